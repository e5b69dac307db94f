package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
)

// ErrInvalidName is for names that no image can have.
var ErrInvalidName = errors.New("not the name of an image") // InvalidImageName

// The kinds of errors. Each *Error is one of them; use errors.Is. On the right is the reason with which the kubelet lets a
// container wait for such an image.
var (
	ErrNotFound     = errors.New("not found")                                 // ErrImagePull
	ErrUnauthorized = errors.New("not allowed")                               // ErrImagePull
	ErrUnavailable  = errors.New("registry is unavailable")                   // RegistryUnavailable
	ErrTLS          = errors.New("no secure connection")                      // ErrImagePull
	ErrRateLimited  = errors.New("too many requests")                         // ErrImagePull
	ErrMismatch     = errors.New("content does not match its digest or size") // ErrImagePull
	ErrNoPlatform   = errors.New("no image for this platform")                // ErrImagePull
	ErrUnsupported  = errors.New("not a supported image")                     // ErrImagePull
	ErrTooLarge     = errors.New("too large")                                 // ErrImagePull
	ErrSettings     = errors.New("registry settings are wrong")               // ErrImagePull
	ErrBadAnswer    = errors.New("unexpected answer")                         // ErrImagePull
)

// Error says what could not be fetched, from where, and why.
type Error struct {
	// Kind is one of the Err… values.
	Kind error
	// Host is the host that failed; it may be empty.
	Host string
	// Detail is in Stint's own words.
	Detail string
	// Temporary reports whether the same request may succeed later.
	Temporary bool
	// RetryAfter is how long the registry asks clients to wait; zero if it does not say.
	RetryAfter time.Duration

	// said is what follows Detail in the words of others: of a registry, or of an error that quotes a name from one. Before an
	// Error is returned to the user of a Client, it is cleared of what repeats a login.
	said string
	// others are the hosts that were tried before, with their errors.
	others []*Error
	// cause is an error for errors.Is that cannot hold a secret: that of a context, or of a full disk. It may be nil.
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
	if e.said != "" {
		s += ": " + shorten(e.said)
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

// retryable reports whether another try may succeed, and how long to wait for it at least.
func retryable(err error) (bool, time.Duration) {
	var e *Error
	if !errors.As(err, &e) {
		return false, 0
	}
	return e.Temporary, e.RetryAfter
}

// withoutSecrets replaces what repeats one of the secrets in the words of others.
func withoutSecrets(err error, secrets *credentials.Secrets) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	for _, one := range append([]*Error{e}, e.others...) {
		if secrets.Repeated(one.said) {
			one.said = "what it says is left out, as it repeats the login"
		}
	}
	return err
}

// WithoutSecrets returns err, the error of adding the image to a store, without text that repeats a login: names in layers are words
// of the registry.
func (i *Image) WithoutSecrets(err error) error {
	if !i.from.secrets.Repeated(err.Error()) {
		return err
	}
	var own *Error
	if errors.As(err, &own) {
		return own // It is cleared already.
	}
	hidden := &Error{Kind: ErrUnsupported, Detail: "what is wrong with its content is left out, as it repeats the login"}
	for _, cause := range []error{unix.ENOSPC, unix.EDQUOT, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, cause) {
			hidden.Kind, hidden.Detail, hidden.cause = errLocal, cause.Error(), cause
		}
	}
	return hidden
}

func unsupported(format string, args ...any) error {
	return &Error{Kind: ErrUnsupported, Detail: fmt.Sprintf(format, args...)}
}

// unsupportedType is for a type that a manifest states.
func unsupportedType(what, is string) error {
	return &Error{Kind: ErrUnsupported, Detail: what, said: strconv.Quote(is)}
}

// mismatch quotes a digest or a size that a registry has stated.
func mismatch(format string, args ...any) error {
	return &Error{Kind: ErrMismatch, said: fmt.Sprintf(format, args...)}
}
