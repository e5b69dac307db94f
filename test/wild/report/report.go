// Package report is what a stand-in reports of itself.
package report

// Prefix begins the line of a container's log that holds its Started, as JSON.
const Prefix = "stand-in: "

// Started is how a container's first process was started.
type Started struct {
	Args, Env []string
	UID, GID  int
	Groups    []int
	Dir, Host string
	// Mounts are the files that can be read below what is mounted, by the path of the mount.
	Mounts map[string][]string
}
