// Package userns starts programs as root of a user namespace.
//
//	outside               inside
//	this user        ───► 0        root, with rights over what is inside only
//	subordinate ids  ───► 1, 2, …  the other users of images (/etc/subuid, /etc/subgid)
//
// A user without subordinate ids has 0 alone.
//
// Only newuidmap and newgidmap may map subordinate ids, once the process is there. So a program that is started in such
// a namespace waits before its main function, and executes itself anew when it has its ids. That it imports this package
// is enough.
package userns
