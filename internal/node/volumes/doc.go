// Package volumes makes a pod's volumes on the disk of the machine, and returns where a container mounts them.
//
// A pod's volumes lie in one folder, each under its name, made when the first container that mounts it starts. Files
// from ConfigMaps, Secrets and the pod's own fields are written so that a reader sees either all old files or all new
// ones, and are rewritten while the pod runs:
//
//	settings/
//	  ..2026_01_02_15_04_05.123/     one generation of files
//	      colour
//	  ..data -> ..2026_01_02_…       swapped by one rename
//	  colour -> ..data/colour
package volumes
