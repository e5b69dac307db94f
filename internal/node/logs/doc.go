// Package logs reads the log of one attempt at a container back out of its CRI log files.
//
// The runtime writes <attempt>.log, made when there is something to write, and sets it aside under a dated name
// when it has grown large. A reader goes through the files in order, follows the newest across that, and takes a
// container without a file for one that has said nothing.
package logs
