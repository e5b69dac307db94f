// Package rootfs makes the root file systems of containers from images: an overlay of the image's files and a directory for
// what the container writes, with /dev and /sys as images expect them. /proc belongs to the container's pid namespace, so
// the container's first process mounts it.
//
//	image's tree ──┐
//	               ├─ overlay ──┐
//	upper ─────────┘            ├─ mount namespace of one container
//	/dev, /sys ─────────────────┘
//
// An overlay whose upper directory is unchanged serves another container of the same image and owner, because making one is most of
// the disk writes that a root file system takes.
//
// The functions that make and enter namespaces act on the calling thread, to which the goroutine must be locked.
package rootfs
