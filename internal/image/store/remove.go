package store

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

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
func (s *Store) Prune() (Pruned, error) {
	unlock, err := s.lock(unix.LOCK_EX)
	if err != nil {
		return Pruned{}, err
	}
	defer unlock()
	images, err := s.List()
	if err != nil {
		return Pruned{}, err
	}
	// No other program makes anything now.
	work, err := beneath.Open(s.path(workName))
	if err != nil {
		return Pruned{}, err
	}
	defer work.Close()
	if err := work.Empty(); err != nil {
		return Pruned{}, err
	}
	kept := map[string]bool{}
	for _, i := range images {
		kept[nameOf(chainID(i.Layers))] = true
		kept[nameOf(i.ID)+".json"] = true
		for _, l := range i.Layers {
			kept[nameOf(l)] = true
		}
	}
	var p Pruned
	if err := s.pruneKind(treesName, kept, &p.Trees, &p.InUse); err != nil {
		return p, err
	}
	// The files of a tree are its own: links outlive what they were made from.
	if err := s.pruneKind(layersName, kept, &p.Layers, &p.InUse); err != nil {
		return p, err
	}
	return p, s.pruneConfigs(kept)
}

func (s *Store) pruneKind(kind string, kept map[string]bool, removed, inUse *int) error {
	entries, err := os.ReadDir(s.path(kind))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if kept[e.Name()] {
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
	dir, err := os.Open(s.path(kind, name))
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
	return s.discard(name)
}

func (s *Store) pruneConfigs(kept map[string]bool) error {
	entries, err := os.ReadDir(s.path(configsName))
	if err != nil {
		return err
	}
	var failed []error
	for _, e := range entries {
		if !kept[e.Name()] {
			failed = append(failed, os.Remove(filepath.Join(s.path(configsName), e.Name())))
		}
	}
	return errors.Join(failed...)
}
