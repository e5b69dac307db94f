package logs

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Options choose what to read.
type Options struct {
	Follow     bool
	Timestamps bool
	// Since drops what was written earlier; zero keeps all.
	Since time.Time
	// Tail keeps this many lines from the end; negative keeps all.
	Tail int64
	// Limit ends the output after this many bytes; negative is none.
	Limit int64
	// Stream is stdout or stderr; empty is both.
	Stream string
}

// OptionsFrom translates a request for a log.
func OptionsFrom(o *corev1.PodLogOptions, now time.Time) Options {
	opts := Options{Follow: o.Follow, Timestamps: o.Timestamps, Tail: -1, Limit: -1}
	switch {
	case o.SinceTime != nil:
		opts.Since = o.SinceTime.Time
	case o.SinceSeconds != nil:
		opts.Since = now.Add(-time.Duration(*o.SinceSeconds) * time.Second)
	}
	if o.TailLines != nil {
		opts.Tail = *o.TailLines
	}
	if o.LimitBytes != nil {
		opts.Limit = *o.LimitBytes
	}
	if o.Stream != nil {
		switch *o.Stream {
		case corev1.LogStreamStdout:
			opts.Stream = "stdout"
		case corev1.LogStreamStderr:
			opts.Stream = "stderr"
		}
	}
	return opts
}
