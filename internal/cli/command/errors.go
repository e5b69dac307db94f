package command

import "fmt"

// The exit statuses.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitBadInput    = 2
	ExitInterrupted = 130
)

// BadInput is an error that the user's next attempt can avoid.
type BadInput struct{ error }

func (b BadInput) Unwrap() error { return b.error }

// BadInputf is fmt.Errorf for errors of the user.
func BadInputf(format string, args ...any) error {
	return BadInput{fmt.Errorf(format, args...)}
}
