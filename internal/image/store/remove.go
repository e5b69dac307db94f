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

// Remove takes a name from the store. What only this name had goes with Prune.
func (s *Store) Remove(name string) (found bool, err error) {
	err = s.change(func(images []Image) ([]Image, error) {
		return slices.DeleteFunc(images, func(i Image) bool {
			found = found || i.Name == name
			return i.Name == name
		}), nil
	})
	return found, err
}

// Pruned is what Prune has removed, and what it has left because containers run from it.
type Pruned struct {
	Trees, Layers, InUse int
}

// Prune removes what no name stands for. Trees that containers run from stay.
func (s *Store) Prune(ctx context.Context) (p Pruned, err error) {
	var answer bytes.Buffer
	task := childTask{Store: s.dir, Prune: true, Kept: []string{kept(layersName), kept(treesName)}}
	if err := runChild(ctx, task, nil, &answer); err != nil {
		return p, err
	}
	return p, json.Unmarshal(answer.Bytes(), &p)
}

// prune is what a child does: this user may not remove what belongs to others. Only in the directories that are kept
// anything is.
func (s *Store) prune(dirs []string) (p Pruned, err error) {
	if err := s.sweep(); err != nil {
		return p, err
	}
	unlock, err := s.lock(workLockName, unix.LOCK_SH)
	if err != nil {
		return p, err
	}
	defer unlock()
	taken, err := s.takeUnnamed(dirs, &p)
	for _, name := range taken {
		err = errors.Join(err, s.discardHere(name))
	}
	return p, err
}

// sweep removes what interrupted programs have left in the work directory. Where another one works just now, it is left
// to the next time.
func (s *Store) sweep() error {
	unlock, err := s.lock(workLockName, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil
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
	return work.Empty()
}

// takeUnnamed takes out of its place what no name stands for. No name is given meanwhile.
func (s *Store) takeUnnamed(dirs []string, p *Pruned) (taken []string, err error) {
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
		// The files of a tree are its own: links outlive what they were made from.
		isNamed := func(name string) bool { return named[name] && slices.Contains(dirs, kind) }
		names, inUse, err := s.takeOthers(kind, isNamed)
		*removed += len(names)
		p.InUse += inUse
		taken = append(taken, names...)
		if err != nil {
			return taken, err
		}
	}
	return taken, s.pruneConfigs(named)
}

// namedBy are the names of all files and directories that images are made of.
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

// takeOthers takes what is not named, and counts what is left because it is in use.
func (s *Store) takeOthers(kind string, isNamed func(string) bool) (taken []string, inUse int, err error) {
	entries, err := os.ReadDir(s.path(kind))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, 0, err
	}
	for _, e := range entries {
		if isNamed(e.Name()) {
			continue
		}
		switch name, err := s.take(kind, e.Name()); {
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

// discardHere is what a child does for discard.
func (s *Store) discardHere(name string) error {
	work, err := beneath.Open(s.path(workName))
	if err != nil {
		return err
	}
	defer work.Close()
	return work.Remove(name)
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
