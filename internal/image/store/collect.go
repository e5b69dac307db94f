package store

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/filesystem"
)

// maxCountedSpace is the size of a file system, in bytes, above which the space to keep free does not grow any more: 300 GB of free
// space would be of no use.
const maxCountedSpace = 64 << 30

// GCPolicy says when images are removed, like the settings of a kubelet. The least recently used image is removed first.
type GCPolicy struct {
	// Images are removed when more than HighThreshold percent of the file system is used, until LowThreshold percent is.
	// With 100 and 100 the file system does not matter.
	HighThreshold, LowThreshold int
	// MinAge is how long an image stays after its last use.
	MinAge time.Duration
	// Limit is how many bytes the store may take; 0 means no limit.
	Limit int64
}

// DefaultGCPolicy returns the defaults of a kubelet.
func DefaultGCPolicy() GCPolicy {
	return GCPolicy{HighThreshold: 85, LowThreshold: 80, MinAge: 2 * time.Minute}
}

// Collected is the result of Collect.
type Collected struct {
	// Images are the names of the images that were removed.
	Images []string
	// Lacking is how many more bytes should have been freed, but could not be.
	Lacking int64
}

// Touch records that an image is used now.
func (s *Store) Touch(i Image) error {
	return s.touch(kept(treesName), nameOf(chainID(i.Layers)))
}

func (s *Store) touch(kind, name string) error {
	now := time.Now()
	return os.Chtimes(s.path(kind, name), now, now)
}

// Collect removes images by the policy, with the layers that no other image needs. Images that containers run from stay, and
// those named in inUse, which count as used now. Pulls do not wait for it.
func (s *Store) Collect(ctx context.Context, p GCPolicy, inUse []string) (c Collected, err error) {
	begun := time.Now()
	if err := s.touchAll(inUse); err != nil {
		return c, err
	}
	// Without a limit, the child, which can compute the size of the store, is needed only if the file system is too full.
	if excess, err := s.excessOfFileSystem(p.HighThreshold); err != nil || p.Limit == 0 && excess == 0 {
		return c, err
	}
	var answer bytes.Buffer
	task := childTask{Store: s.dir, Collect: &collection{p, begun.Add(-p.MinAge)}, Kept: []string{kept(layersName), kept(treesName)}}
	if err := runChild(ctx, task, nil, &answer); err != nil {
		return c, err
	}
	return c, json.Unmarshal(answer.Bytes(), &c)
}

func (s *Store) touchAll(names []string) error {
	images, err := s.List()
	for _, i := range images {
		if slices.Contains(names, i.Name) && s.isComplete(i) {
			err = errors.Join(err, s.Touch(i))
		}
	}
	return err
}

// collection is the task of a child to remove images, by Policy, that were last used before UsedBefore.
type collection struct {
	Policy     GCPolicy
	UsedBefore time.Time
}

// collect does in a child what Collect is called for. It first removes what no image in the list needs.
func (s *Store) collect(of collection, dirs []string) (c Collected, err error) {
	p := of.Policy
	if c.Lacking, err = s.excess(p, p.HighThreshold); err != nil || c.Lacking == 0 {
		return c, err
	}
	if _, err := s.prune(dirs); err != nil {
		return c, err
	}
	unlock, err := s.lock(workLockName, unix.LOCK_SH)
	if err != nil {
		return c, err
	}
	defer unlock()
	low := p.LowThreshold
	if excess, err := s.excessOfFileSystem(p.HighThreshold); err != nil || excess == 0 {
		low = p.HighThreshold // Only the limit is exceeded.
	}
	for {
		if excess, err := s.excess(p, low); err != nil || excess == 0 {
			c.Lacking = 0
			return c, err
		}
		names, err := s.removeOldest(of.UsedBefore, dirs)
		if errors.Is(err, errNone) {
			c.Lacking, err = s.excess(p, p.HighThreshold)
		}
		if err != nil || names == nil {
			return c, err
		}
		c.Images = append(c.Images, names...)
	}
}

// excess returns how many bytes are to be freed.
func (s *Store) excess(p GCPolicy, threshold int) (int64, error) {
	excess, err := s.excessOfFileSystem(threshold)
	if err != nil || p.Limit == 0 {
		return excess, err
	}
	size, err := s.size()
	return max(excess, size-p.Limit), err
}

func (s *Store) excessOfFileSystem(threshold int) (int64, error) {
	space, err := filesystem.SpaceOf(s.dir)
	return max(filesystem.Share(space.Bytes, maxCountedSpace, 100-threshold)-space.BytesAvailable, 0), err
}

var errNone = errors.New("no image can be removed")

// removeOldest removes the least recently used image, under all its names, if its last use was before `before`.
func (s *Store) removeOldest(before time.Time, dirs []string) (names []string, err error) {
	var taken string
	err = s.change(func(images []Image) ([]Image, error) {
		var tree string
		if tree, taken, err = s.moveAwayOldest(images, dirs, before); err != nil {
			return nil, err
		}
		return slices.DeleteFunc(images, func(i Image) bool {
			isOf := nameOf(chainID(i.Layers)) == tree
			if isOf {
				names = append(names, i.Name)
			}
			return isOf
		}), nil
	})
	if err != nil {
		return nil, err
	}
	rest, err := s.moveAwayUnnamed(dirs, &Pruned{})
	for _, name := range append(rest, taken) {
		err = errors.Join(err, s.discardHere(name))
	}
	return names, err
}

// moveAwayOldest moves the least recently used tree to the work directory. A tree that containers run from is skipped, and counts
// as used now.
func (s *Store) moveAwayOldest(images []Image, dirs []string, before time.Time) (tree, taken string, err error) {
	for _, u := range s.uses(images, dirs) {
		if !u.last.Before(before) {
			break
		}
		taken, err := s.moveAway(u.kind, u.tree)
		if !errors.Is(err, errInUse) {
			return u.tree, taken, err
		}
		if err := s.touch(u.kind, u.tree); err != nil {
			return "", "", err
		}
	}
	return "", "", errNone
}

// use is when a tree was last used.
type use struct {
	kind, tree string
	last       time.Time
}

// uses returns when the trees of images were last used, the oldest first.
func (s *Store) uses(images []Image, dirs []string) (all []use) {
	seen := map[v1.Hash]bool{}
	for _, i := range images {
		id := chainID(i.Layers)
		if seen[id] {
			continue
		}
		seen[id] = true
		for _, kind := range dirs {
			info, err := os.Stat(s.path(kind, nameOf(id)))
			if err == nil && strings.HasPrefix(kind, treesName) {
				all = append(all, use{kind, nameOf(id), info.ModTime()})
			}
		}
	}
	slices.SortFunc(all, func(a, b use) int { return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.tree, b.tree)) })
	return all
}
