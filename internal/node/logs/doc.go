// Package logs reads the log of one attempt at a container from its CRI log files.
//
// The runtime writes <attempt>.log, which is created with the first output, and renames it with a date when it has
// grown large. A reader reads the files in order and follows the newest across that rotation. A container without a
// file has printed nothing.
package logs
