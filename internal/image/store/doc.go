// Package store keeps the images of one user of this machine, unpacked and ready to be run.
//
//	images.json             which names there are, and what they stand for
//	configs/<digest>.json   what an image says of itself
//	layers/<digest>/files   a layer, unpacked once for all images that have it (package layer)
//	trees/<digest>/files    the files of an image: hard links into its layers
//	work/                   what is being made or removed, and what has come of a layer that is being fetched
//
// Several programs use a store at a time. What is in its place is whole: things are made in work and renamed. A program
// that adds or removes holds the lock of the store; one that runs a container from a tree holds a shared lock of the
// tree's directory, which the kernel lets go of when the process ends.
package store
