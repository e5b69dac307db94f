package images

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// Command returns the whole argument vector of a container, from its spec or else from its image.
func (i *Image) Command(command, args []string) ([]string, error) {
	switch {
	case len(command) > 0:
		// The image's arguments are only for the image's own command.
	case len(args) > 0:
		command = i.Config.Entrypoint
	default:
		command, args = i.Config.Entrypoint, i.Config.Cmd
	}
	if all := slices.Concat(command, args); len(all) > 0 {
		return all, nil
	}
	return nil, errors.New("no command specified: neither the container nor its image has one")
}

// Environ returns the image's environment, overridden by the container's own. Both are NAME=value.
func (i *Image) Environ(own []string) []string {
	set := map[string]bool{}
	for _, pair := range own {
		name, _, _ := strings.Cut(pair, "=")
		set[name] = true
	}
	var environ []string
	for _, pair := range i.Config.Env {
		if name, _, _ := strings.Cut(pair, "="); !set[name] {
			environ = append(environ, pair)
		}
	}
	return append(environ, own...)
}

// StopSignal returns the signal that stops the image's program; 0 if the image does not name one.
func (i *Image) StopSignal() (int32, error) {
	text := i.Config.StopSignal
	if text == "" {
		return 0, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n > 0 && n < 65 {
		return int32(n), nil
	}
	name := strings.ToUpper(text)
	if !strings.HasPrefix(name, "SIG") {
		name = "SIG" + name
	}
	if n, known := runtime.SignalNumber(name); known {
		return n, nil
	}
	return 0, fmt.Errorf("the image's stop signal %q is not a signal", text)
}

// ImageID returns the image by its digest, as in a pod's status.
func (i *Image) ImageID() string { return i.repository + "@" + i.Digest.String() }
