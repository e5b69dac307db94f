// Package store stores the images of one user of this machine, unpacked and ready to run.
//
//	images.json             the list of images, by name
//	configs/<digest>.json   the configuration of an image
//	layers/<digest>/files   a layer, unpacked once for all images that have it (package layer)
//	trees/<digest>/files    the files of an image: hard links into its layers
//	…/size                  how many bytes that takes on disk; the directory's time is when an image was last used
//	work/                   what is being made or removed, and the parts of layers that are being downloaded
//
// Several programs may use a store at a time. Everything outside of work is complete: it is made in work and renamed. A program
// waits for another one only if that is just making something that both need. The locks are held while a program:
//
//	lock on                       shared                       exclusive
//	the directory of a tree or    makes an image from it,      removes it; if the lock is taken, it is left
//	layer, and its files          runs a container from it
//	images.json                                                changes the list, or removes what it does not need
//	a claim in work                                            makes a layer or tree; others wait, and then find it, unless
//	                                                           another registry sends them the layer
//	work                          makes or removes something   empties work
//
// All are locks of the kernel (flock), which are released when a process ends.
package store
