// Package rootfs gives containers a root file system of their own: an image's files below what the container writes,
// with /dev and /sys as container images expect them. /proc belongs to a pid namespace, so its process mounts it.
//
//	image's tree ──┐
//	               ├─ overlay ──┐
//	upper ─────────┘            ├─ mount namespace of one container
//	/dev, /sys ─────────────────┘
//
// An overlay whose upper directory is as it was made serves another container of the same image: making one is most of
// what a root file system costs on disk.
//
// The functions that make and enter namespaces act on the calling thread, to which the goroutine must be locked.
package rootfs
