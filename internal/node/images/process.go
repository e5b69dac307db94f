package images

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Command is the whole argument vector of a container: what its spec says, or else its image.
func (i *Image) Command(command, args []string) ([]string, error) {
	switch {
	case len(command) > 0:
		// Arguments of the image are for the image's own command.
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

// Environ is the image's environment under the container's own, which are both NAME=value.
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

// StopSignal asks the image's program to end; 0 is where the image does not say.
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
	if n := unix.SignalNum(name); n != 0 {
		return int32(n), nil
	}
	return 0, fmt.Errorf("the image's stop signal %q is none", text)
}

// ImageID is the image by its digest, as a pod's status has it.
func (i *Image) ImageID() string { return i.repository + "@" + i.Digest.String() }
