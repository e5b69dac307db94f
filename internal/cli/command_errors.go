package cli

import "fmt"

// The exit statuses.
const (
	exitOK          = 0
	exitFailed      = 1
	exitBadInput    = 2
	exitInterrupted = 130
)

// badInput is an error that the user's next attempt can avoid.
type badInput struct{ error }

func (b badInput) Unwrap() error { return b.error }

func badInputf(format string, args ...any) error {
	return badInput{fmt.Errorf(format, args...)}
}
