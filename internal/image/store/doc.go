// Package store keeps the images of one user of this machine, unpacked and ready to be run.
//
//	images.json             which names there are, and what they stand for
//	configs/<digest>.json   what an image says of itself
//	layers/<digest>/files   a layer, unpacked once for all images that have it (package layer)
//	trees/<digest>/files    the files of an image: hard links into its layers
//	…/size                  how many bytes that takes on disk; the directory's time is when an image was last used
//	work/                   what is being made or removed, and what has come of a layer that is being fetched
//
// Several programs use a store at a time. What is in its place is whole: things are made in work and renamed. None waits for
// another, but for what that is making just now and both need:
//
//	lock of                       shared                       alone
//	the directory of a tree or    who makes an image of it,    who removes it; who cannot have the lock leaves it
//	layer, and its files          who runs a container of it
//	images.json                                                who changes the list, or takes away what it does not name
//	a claim in work                                            who makes a layer or tree; others wait, and find it made
//	work                          who makes or removes         who empties it
//
// All are locks of the kernel, which lets go of them when a process ends.
package store
