package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/beneath"
)

// Remove removes the image of that name from the list. Prune then removes the files that only this image needs.
func (s *Store) Remove(name string) (found bool, err error) {
	err = s.change(func(images []Image) ([]Image, error) {
		return slices.DeleteFunc(images, func(i Image) bool {
			found = found || i.Name == name
			return i.Name == name
		}), nil
	})
	return found, err
}

// Pruned counts what Prune has removed, and what it has left because it is in use.
type Pruned struct {
	Trees, Layers, InUse int
}

// Prune removes what no image in the list needs. Trees that containers run from stay.
func (s *Store) Prune(ctx context.Context) (p Pruned, err error) {
	var answer bytes.Buffer
	task := childTask{Store: s.dir, Prune: true, Kept: []string{kept(layersName), kept(treesName)}}
	if err := runChild(ctx, task, nil, &answer); err != nil {
		return p, err
	}
	return p, json.Unmarshal(answer.Bytes(), &p)
}

// prune does in a child what Prune is called for, as this user may not remove files of others. Of directories other than dirs
// it keeps nothing.
func (s *Store) prune(dirs []string) (p Pruned, err error) {
	if err := s.sweep(); err != nil {
		return p, err
	}
	unlock, err := s.lock(workLockName, unix.LOCK_SH)
	if err != nil {
		return p, err
	}
	defer unlock()
	taken, err := s.moveAwayUnnamed(dirs, &p)
	for _, name := range taken {
		err = errors.Join(err, s.discardHere(name))
	}
	return p, err
}

// sweep removes what interrupted programs have left in the work directory. If another program is using the directory, only parts of
// layers are removed, and the rest is left to the next sweep.
func (s *Store) sweep() error {
	unlock, err := s.lock(workLockName, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return s.removeParts()
	}
	if err != nil {
		return err
	}
	defer unlock()
	work, err := beneath.Open(s.path(workName))
	if err != nil {
		return err
	}
	defer work.Close()
	return work.Empty(context.Background())
}

// moveAwayUnnamed moves what no image in the list needs to the work directory. The list cannot change meanwhile.
func (s *Store) moveAwayUnnamed(dirs []string, p *Pruned) (taken []string, err error) {
	unlock, err := s.lock(listLockName, unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer unlock()
	images, err := s.List()
	if err != nil {
		return nil, err
	}
	named := namedBy(images)
	for _, kind := range []string{treesName, treesName + singleOwnerSuffix, layersName, layersName + singleOwnerSuffix} {
		removed := &p.Layers
		if strings.HasPrefix(kind, treesName) {
			removed = &p.Trees
		}
		// Removing layers does not harm a tree: its hard links keep their files.
		isNamed := func(name string) bool { return named[name] && slices.Contains(dirs, kind) }
		names, inUse, err := s.moveAwayOthers(kind, isNamed)
		*removed += len(names)
		p.InUse += inUse
		taken = append(taken, names...)
		if err != nil {
			return taken, err
		}
	}
	return taken, s.pruneConfigs(named)
}

// namedBy returns the names of all files and directories that images need.
func namedBy(images []Image) map[string]bool {
	named := map[string]bool{}
	for _, i := range images {
		named[nameOf(chainID(i.Layers))] = true
		named[nameOf(i.ID)+".json"] = true
		for _, l := range i.Layers {
			named[nameOf(l)] = true
		}
	}
	return named
}

// moveAwayOthers moves what is not named to the work directory, and counts what is left because it is in use.
func (s *Store) moveAwayOthers(kind string, isNamed func(string) bool) (taken []string, inUse int, err error) {
	entries, err := os.ReadDir(s.path(kind))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	for _, e := range entries {
		if isNamed(e.Name()) {
			continue
		}
		switch name, err := s.moveAway(kind, e.Name()); {
		case errors.Is(err, errInUse):
			inUse++
		case err != nil:
			return taken, inUse, err
		default:
			taken = append(taken, name)
		}
	}
	return taken, inUse, nil
}

// discardHere does in a child what discard is called for.
func (s *Store) discardHere(name string) error {
	work, err := beneath.Open(s.path(workName))
	if err != nil {
		return err
	}
	defer work.Close()
	return work.Remove(context.Background(), name)
}

func (s *Store) pruneConfigs(named map[string]bool) error {
	entries, err := os.ReadDir(s.path(configsName))
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		if !named[e.Name()] {
			failed = append(failed, os.Remove(filepath.Join(s.path(configsName), e.Name())))
		}
	}
	return errors.Join(failed...)
}
