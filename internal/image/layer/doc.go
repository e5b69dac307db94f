// Package layer unpacks the layers of images and merges them into trees.
//
// A layer is unpacked by itself, so that images share it and several can be unpacked at a time. What it says of the layers
// below it cannot be files: it is kept beside them.
//
//	layer 3 ── Unpack ──► tree/ changes.json ──┐
//	layer 2 ── Unpack ──► tree/ changes.json ──┼─ Merge ──► one tree, its files hard links into the layers
//	layer 1 ── Unpack ──► tree/ changes.json ──┘
//
// Layers come from strangers. Every path is looked up from the descriptor of the root, and no link in it leads out; an
// inode that is there is never written to, for it may belong to other trees too, but replaced.
//
// Who calls is root, if only in a user namespace: directories that forbid to write are filled all the same. What such a user may
// not do is left out where a container does not miss it:
//
//	device files         always left out, for a container gets its own; what lower layers have there is hidden
//	extended attributes  left out where they may not be set
//	owners               an error that says how to get more ids, unless the caller wants none to be kept
//	hard links           the file is copied; names of one file that were in a layer stay names of one file
package layer
