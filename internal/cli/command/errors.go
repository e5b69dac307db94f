package command

import "fmt"

// The exit statuses.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitBadInput    = 2
	ExitInterrupted = 130
)

// BadInput is an error in flags, arguments or manifests, which the user can correct. Its exit status is 2.
type BadInput struct{ error }

func (b BadInput) Unwrap() error { return b.error }

// BadInputf is fmt.Errorf for bad input.
func BadInputf(format string, args ...any) error {
	return BadInput{fmt.Errorf(format, args...)}
}
