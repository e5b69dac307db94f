// Package layer unpacks the layers of images and merges them into trees.
//
// Each layer is unpacked on its own, so that images can share it and several can be unpacked at a time. How it changes the
// layers below it (whiteouts, links) is kept in a file beside its tree.
//
//	layer 3 ── Unpack ──► tree/ changes.json ──┐
//	layer 2 ── Unpack ──► tree/ changes.json ──┼─ Merge ──► one tree, its files hard links into the layers
//	layer 1 ── Unpack ──► tree/ changes.json ──┘
//
// Layers are not trusted. Every path is looked up from the descriptor of the root, and no link in it leads out. An existing
// file is never written to, but replaced, as other trees may have it, too.
//
// The caller is root, at least in a user namespace, so that it can also fill directories that are not writable. What such
// a user may still not do is handled so:
//
//	device files         always left out, as a container gets its own; they still hide what lower layers have there
//	extended attributes  left out if they may not be set
//	owners               an error that says how to get more IDs, unless Options.Owners is false
//	hard links           the file is copied; several names of one file within a layer stay names of one copy
package layer
