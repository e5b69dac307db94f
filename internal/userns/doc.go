// Package userns starts programs as root of a user namespace.
//
//	outside               inside
//	this user        ───► 0        root, with rights only over what is inside
//	subordinate ids  ───► 1, 2, …  the other users of images (/etc/subuid, /etc/subgid)
//
// A user without subordinate ids has only 0.
//
// Only newuidmap and newgidmap may map subordinate ids, and only when the process exists. So a program that is started in
// such a namespace waits before its main function, and executes itself again when it has its ids. The program only has to
// import this package.
package userns
