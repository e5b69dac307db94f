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
	err = s.change(func(images []Image) []Image {
		return slices.DeleteFunc(images, func(i Image) bool {
			found = found || i.Name == name
			return i.Name == name
		})
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
	unlock, err := s.lock(unix.LOCK_EX)
	if err != nil {
		return p, err
	}
	defer unlock()
	images, err := s.List()
	if err != nil {
		return p, err
	}
	// No other program makes anything now.
	work, err := beneath.Open(s.path(workName))
	if err != nil {
		return p, err
	}
	defer work.Close()
	if err := work.Empty(); err != nil {
		return p, err
	}
	named := map[string]bool{}
	for _, i := range images {
		named[nameOf(chainID(i.Layers))] = true
		named[nameOf(i.ID)+".json"] = true
		for _, l := range i.Layers {
			named[nameOf(l)] = true
		}
	}
	for _, kind := range []string{treesName, treesName + oneOwner, layersName, layersName + oneOwner} {
		removed := &p.Layers
		if strings.HasPrefix(kind, treesName) {
			removed = &p.Trees
		}
		// The files of a tree are its own: links outlive what they were made from.
		isNamed := func(name string) bool { return named[name] && slices.Contains(dirs, kind) }
		if err := s.pruneKind(kind, isNamed, removed, &p.InUse); err != nil {
			return p, err
		}
	}
	return p, s.pruneConfigs(named)
}

func (s *Store) pruneKind(kind string, isNamed func(string) bool, removed, inUse *int) error {
	entries, err := os.ReadDir(s.path(kind))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if isNamed(e.Name()) {
			continue
		}
		switch err := s.take(kind, e.Name()); {
		case errors.Is(err, errInUse):
			*inUse++
		case err != nil:
			return err
		default:
			*removed++
		}
	}
	return nil
}

var errInUse = errors.New("containers run from it")

// take removes a directory that is not in use. From when it is renamed on, it cannot be found any more.
func (s *Store) take(kind, name string) error {
	dir, err := os.Open(s.path(kind, name, filesName))
	if errors.Is(err, fs.ErrNotExist) {
		dir, err = os.Open(s.path(kind, name)) // of an older version
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return errInUse
	}
	if err := os.Rename(s.path(kind, name), s.path(workName, name)); err != nil {
		return err
	}
	return s.discardHere(name)
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
