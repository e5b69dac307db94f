// Package persistentvolume describes the kinds of persistent storage: PersistentVolumes, the PersistentVolumeClaims that
// are bound to them, and the StorageClasses by which volumes are provisioned for claims.
package persistentvolume
