package host

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// compactAt is the size from which on the journal is rewritten when most of it is history.
const compactAt = 1 << 20

// record is one line of the journal; exactly one field is set.
type record struct {
	Host   *header         `json:"host,omitempty"`
	Start  *runtime.Status `json:"start,omitempty"`
	Exit   *runtime.Status `json:"exit,omitempty"`
	Forget []runtime.ID    `json:"forget,omitempty"`
}

// header describes the host that wrote the journal.
type header struct {
	BootID string `json:"bootID"`
	// Cgroups are the directories that hold the cgroups of its containers.
	Cgroups []string `json:"cgroups,omitempty"`
}

// history is the content of a journal.
type history struct {
	header header
	// attempts holds every attempt that was not forgotten; those that have no end yet are Running.
	attempts map[runtime.ID]runtime.Status
}

// journalName is the journal's file in the run directory. newJournalName is renamed to it when the journal is rewritten.
const (
	journalName    = "journal"
	newJournalName = "journal.new"
)

// maxLine is more than the longest line, which holds a termination message.
const maxLine = 1 << 20

// journal appends a line per change. A line is one write, so a killed host leaves at most one torn line, the last.
type journal struct {
	mu   sync.Mutex
	dir  *os.Root
	file *os.File
	size int64
	head header
	// kept holds the last line about every attempt that was not forgotten.
	kept     map[runtime.ID][]byte
	keptSize int64
}

// readJournal returns an empty history if there is no journal.
func readJournal(dir *os.Root) (history, error) {
	h := history{attempts: map[runtime.ID]runtime.Status{}}
	file, err := dir.Open(journalName)
	if os.IsNotExist(err) {
		return h, nil
	}
	if err != nil {
		return h, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var r record
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			break
		}
		h.take(r)
	}
	if err := lines.Err(); err != nil && !errors.Is(err, bufio.ErrTooLong) {
		return h, err
	}
	return h, nil
}

func (h *history) take(r record) {
	switch {
	case r.Host != nil:
		h.header = *r.Host
	case r.Start != nil && r.Start.ID.Check() == nil:
		h.attempts[r.Start.ID] = *r.Start
	case r.Exit != nil && r.Exit.ID.Check() == nil:
		h.attempts[r.Exit.ID] = *r.Exit
	}
	for _, id := range r.Forget {
		delete(h.attempts, id)
	}
}

// createJournal replaces the journal in dir by one that lists only exited.
func createJournal(dir *os.Root, head header, exited []runtime.Status) (*journal, error) {
	j := &journal{dir: dir, head: head, kept: map[runtime.ID][]byte{}}
	for _, s := range exited {
		line, err := encode(record{Exit: &s})
		if err != nil {
			return nil, err
		}
		j.keep(s.ID, line)
	}
	return j, j.rewrite()
}

func encode(r record) ([]byte, error) {
	line, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return append(line, '\n'), nil
}

// started adds an attempt that runs, or replaces what is known of it.
func (j *journal) started(s runtime.Status) error { return j.add(s.ID, record{Start: &s}) }

func (j *journal) ended(s runtime.Status) error { return j.add(s.ID, record{Exit: &s}) }

func (j *journal) add(id runtime.ID, r record) error {
	line, err := encode(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep(id, line)
	return j.append(line)
}

func (j *journal) forget(ids []runtime.ID) error {
	line, err := encode(record{Forget: ids})
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, id := range ids {
		j.keptSize -= int64(len(j.kept[id]))
		delete(j.kept, id)
	}
	if j.size > compactAt && j.size > 4*j.keptSize {
		return j.rewrite()
	}
	return j.append(line)
}

func (j *journal) keep(id runtime.ID, line []byte) {
	j.keptSize += int64(len(line)) - int64(len(j.kept[id]))
	j.kept[id] = line
}

func (j *journal) append(line []byte) error {
	n, err := j.file.Write(line)
	j.size += int64(n)
	if err != nil {
		return fmt.Errorf("write the journal of containers: %w", err)
	}
	return nil
}

// rewrite replaces the journal by one with only the last line about each attempt. It is not synced to a disk: it is about
// processes, which a crash of the machine ends as well.
func (j *journal) rewrite() error {
	line, err := encode(record{Host: &j.head})
	if err != nil {
		return err
	}
	all := bytes.NewBuffer(line)
	for _, line := range j.kept {
		all.Write(line)
	}
	fresh, err := j.dir.OpenFile(newJournalName, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err = fresh.Write(all.Bytes()); err == nil {
		err = j.dir.Rename(newJournalName, journalName)
	}
	if err != nil {
		fresh.Close()
		return fmt.Errorf("write the journal of containers: %w", err)
	}
	if j.file != nil {
		j.file.Close()
	}
	j.file, j.size = fresh, int64(all.Len())
	return nil
}

// close reports whether the journal lists no attempt any more.
func (j *journal) close() (empty bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.file.Close()
	return len(j.kept) == 0
}

// bootID is different each time the machine boots.
func bootID() (string, error) {
	data, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(data)), err
}
