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
package layer
