// Package persistentvolume has the rules of PersistentVolumes, PersistentVolumeClaims and StorageClasses.
package persistentvolume
