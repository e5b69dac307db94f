package runtime

import "io"

// Command is what Exec runs in a container.
type Command struct {
	// Args is the whole argument vector. Args[0] is looked up in the PATH of the container.
	Args []string
	// TTY gives it a terminal of the container. What it prints, also to standard error, goes to Stdout then.
	TTY bool
}

// Streams are the ends of a command's standard streams and terminal.
type Streams struct {
	// Stdin is what it reads; nil is nothing.
	Stdin io.Reader
	// Stdout and Stderr get what it prints; nil discards it.
	Stdout, Stderr io.Writer
	// Sizes are those that its terminal gets, one after the other.
	Sizes <-chan Size
}

// Size is that of a terminal.
type Size struct{ Columns, Rows uint16 }

// CommandError is why a command could not be started, or not run to its end, with the exit code that a shell would have.
type CommandError struct {
	Code   int32
	Reason string
}

func (e *CommandError) Error() string { return e.Reason }

// Exit codes of commands that could not be started, as from a shell.
const (
	ExitCannotRun = 126
	ExitNotFound  = 127
)
