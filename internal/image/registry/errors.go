package registry

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrInvalidName is for names that no image can have.
var ErrInvalidName = errors.New("not the name of an image") // InvalidImageName

// The kinds of errors. Each *Error is one of them; errors.Is tells which. On the right the reason that the kubelet gives
// a container which waits for such an image.
var (
	ErrNotFound     = errors.New("not found")                                       // ErrImagePull
	ErrUnauthorized = errors.New("not allowed")                                     // ErrImagePull
	ErrUnavailable  = errors.New("registry is unavailable")                         // RegistryUnavailable
	ErrTLS          = errors.New("no secure connection")                            // ErrImagePull
	ErrRateLimited  = errors.New("too many requests")                               // ErrImagePull
	ErrMismatch     = errors.New("content is not what its digest or size promises") // ErrImagePull
	ErrNoPlatform   = errors.New("no image for this platform")                      // ErrImagePull
	ErrUnsupported  = errors.New("not a supported image")                           // ErrImagePull
	ErrTooLarge     = errors.New("too large")                                       // ErrImagePull
	ErrSettings     = errors.New("registry settings are wrong")                     // ErrImagePull
	ErrBadAnswer    = errors.New("unexpected answer")                               // ErrImagePull
)

// Error says what could not be fetched, from where, and why.
type Error struct {
	// Kind is one of the Err… values.
	Kind error
	// Host is where it was looked for; it may be empty.
	Host   string
	Detail string
	// Temporary reports that the same request may succeed later.
	Temporary bool
	// RetryAfter is how long the registry asks us to wait; zero if it has not said.
	RetryAfter time.Duration

	// others are the hosts that were tried before, with their errors.
	others []*Error
	// cause is kept for errors.Is where it cannot hold a secret: the end of a context, an error of a file.
	cause error
}

// Error implements error.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.short())
	for _, o := range e.others {
		fmt.Fprintf(&b, "; before that, %s", o.short())
	}
	return b.String()
}

func (e *Error) short() string {
	s := e.Kind.Error()
	if e.Host != "" {
		s = e.Host + ": " + s
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.RetryAfter > 0 {
		s += fmt.Sprintf(" (asks to wait %s)", e.RetryAfter.Round(time.Second))
	}
	return s
}

// Unwrap lets errors.Is find the kind.
func (e *Error) Unwrap() []error {
	if e.cause != nil {
		return []error{e.Kind, e.cause}
	}
	return []error{e.Kind}
}

// passes reports whether a try may succeed later, and how long to wait at least.
func passes(err error) (bool, time.Duration) {
	var e *Error
	if !errors.As(err, &e) {
		return false, 0
	}
	return e.Temporary, e.RetryAfter
}

func unsupported(format string, args ...any) error {
	return &Error{Kind: ErrUnsupported, Detail: fmt.Sprintf(format, args...)}
}

func mismatch(format string, args ...any) error {
	return &Error{Kind: ErrMismatch, Detail: fmt.Sprintf(format, args...)}
}
