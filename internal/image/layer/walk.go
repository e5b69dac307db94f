package layer

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

const (
	// maxLinks is how many symbolic links a lookup follows, as many as the kernel does.
	maxLinks = 40
	// maxDepth is how many directories may be above an entry, far more than in real images.
	maxDepth = 256
	// defaultMaxSteps is how many directories lookups through links may enter, in a layer or a merge: half a minute of CPU time.
	defaultMaxSteps = 10_000_000
)

var errTooDeep = fmt.Errorf("it is in more than %d directories, one inside another: build the image with shorter paths", maxDepth)

// walk is a lookup that goes from directory to directory, so that its time is bounded whatever links lead to.
type walk struct {
	root *root
	// dir is open. Its path, without links, has the elements at.
	dir *os.File
	at  []string
	// rest is the path from dir that is left to go.
	rest  string
	links int
}

// walk opens the directory at p, following links inside the root as the kernel does. It creates missing directories if create is
// true, also those that a link leads to.
func (r *root) walk(p string, create bool) (*os.File, error) {
	top, err := openBelow(r.dir, ".")
	if err != nil {
		return nil, err
	}
	w := &walk{root: r, dir: top, rest: p}
	for w.rest != "" {
		if err := w.step(create); err != nil {
			w.dir.Close()
			return nil, err
		}
	}
	return w.dir, nil
}

// step goes to the next element of the path.
func (w *walk) step(create bool) error {
	if w.root.steps++; w.root.steps > w.root.maxSteps {
		return fmt.Errorf("links lead entries through more than %d directories: build the image with fewer entries below links", w.root.maxSteps)
	}
	var name string
	name, w.rest, _ = strings.Cut(w.rest, "/")
	switch {
	case name == "" || name == ".":
		return nil
	case name == "..":
		return w.up()
	case len(w.at) == maxDepth:
		return errTooDeep
	}
	next, err := openBelow(w.dir, name)
	if errors.Is(err, unix.ENOENT) && create {
		next, err = w.create(name)
	}
	if errors.Is(err, unix.ENOTDIR) {
		return w.follow(name)
	}
	if err == nil {
		w.enter(next, append(w.at, name))
	}
	return err
}

func (w *walk) enter(dir *os.File, at []string) {
	w.dir.Close()
	w.dir, w.at = dir, at
}

// up goes to the directory above. Above the root is the root.
func (w *walk) up() error {
	if len(w.at) == 0 {
		return nil
	}
	above, err := openBelow(w.dir, "..")
	if err == nil {
		w.enter(above, w.at[:len(w.at)-1])
	}
	return err
}

func (w *walk) create(name string) (*os.File, error) {
	if err := makeDir(w.dir, name); err != nil {
		return nil, err
	}
	if w.root.implied != nil {
		w.root.implied(path.Join(append(w.at, name)...))
	}
	return openBelow(w.dir, name)
}

// follow goes on with the target of a link. It fails with ENOTDIR if name is no link.
func (w *walk) follow(name string) error {
	target, err := readLink(w.dir, name)
	switch {
	case errors.Is(err, unix.EINVAL):
		return unix.ENOTDIR
	case err != nil:
		return err
	}
	if w.links++; w.links > maxLinks {
		return unix.ELOOP
	}
	w.rest = target + "/" + w.rest
	if !path.IsAbs(target) {
		return nil
	}
	top, err := openBelow(w.root.dir, ".")
	if err == nil {
		w.enter(top, nil)
	}
	return err
}
