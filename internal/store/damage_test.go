package store_test

import (
	"bufio"
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/stint-dev/stint/internal/store"
)

var (
	damages = flag.Int("store.damages", 60, "how many damaged copies of a store are opened")
	seed    = flag.Uint64("store.seed", 1, "where the draws of damage start; 0 draws that too")
)

// openEnv makes this test binary open stores and print the outcomes. A damaged store may end the process, so the tests
// open it in another process.
const openEnv = "STINT_TEST_OPEN"

func TestMain(m *testing.M) {
	if dirs := os.Getenv(openEnv); dirs != "" {
		for _, dir := range filepath.SplitList(dirs) {
			fmt.Printf("%s: %s\n", dir, useStore(dir))
		}
		return
	}
	os.Exit(m.Run())
}

// useStore opens the store, reads everything, writes a key and returns the outcome.
func useStore(dir string) string {
	s, err := store.Open(context.Background(), dir)
	if err != nil {
		return "refused: " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	defer s.Close()
	if _, err := s.Client().Get(context.Background(), "", clientv3.WithPrefix()); err != nil {
		return "failed: " + err.Error()
	}
	if _, err := s.Client().Put(context.Background(), "/after", "v"); err != nil {
		return "failed: " + err.Error()
	}
	return "opened"
}

const database = "etcd/member/snap/db"

// fullStore makes a closed store with branch pages, long values, deletions, a compaction, free pages and leases.
func fullStore(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	s, err := store.Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx := t.Context()
	lease, err := s.Client().Grant(ctx, 3600)
	if err != nil {
		t.Fatal(err)
	}
	value := strings.Repeat("value ", 60)
	for round := range 20 {
		var ops []clientv3.Op
		for i := range 120 {
			ops = append(ops, clientv3.OpPut(fmt.Sprintf("/registry/pods/%d/%d", round%15, i), value, clientv3.WithLease(lease.ID)))
		}
		if _, err := s.Client().Txn(ctx).Then(ops...).Commit(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Client().Put(ctx, "/long", strings.Repeat("long ", 20_000)); err != nil {
		t.Fatal(err)
	}
	deleted, err := s.Client().Delete(ctx, "/registry/pods/3/", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Client().Compact(ctx, deleted.Header.Revision-2, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyStore(t testing.TB, from string, db []byte) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, database), db, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

const page = 4096

// written returns the offsets of the pages that are not empty. bbolt makes its file larger than it needs.
func written(db []byte) (places []int) {
	empty := make([]byte, page)
	for at := 0; at < len(db); at += page {
		if !bytes.Equal(db[at:at+page], empty) {
			places = append(places, at)
		}
	}
	return places
}

// damage makes one random change to a copy of the database, and describes it.
func damage(draw *rand.Rand, whole []byte) (db []byte, what string) {
	db = bytes.Clone(whole)
	places := written(db)
	pages := len(places)
	within := page
	if draw.IntN(2) == 0 {
		within = 64 // a header, and the first elements
	}
	at := places[draw.IntN(pages)] + draw.IntN(within)
	switch draw.IntN(5) {
	case 0:
		db[at] ^= 1 << draw.IntN(8)
		return db, fmt.Sprintf("a bit at %d", at)
	case 1:
		n := min(1+draw.IntN(300), len(db)-at)
		for i := range n {
			db[at+i] = byte(draw.Uint32())
		}
		return db, fmt.Sprintf("%d bytes of noise at %d", n, at)
	case 2:
		clear(db[at/page*page : at/page*page+page])
		return db, fmt.Sprintf("zeroed page %d", at/page)
	case 3:
		other := places[draw.IntN(pages)] / page
		copy(db[at/page*page:], whole[other*page:(other+1)*page])
		copy(db[other*page:], whole[at/page*page:at/page*page+page])
		return db, fmt.Sprintf("swapped pages %d and %d", at/page, other)
	}
	other := places[draw.IntN(pages)] / page
	copy(db[at/page*page:], whole[other*page:(other+1)*page])
	return db, fmt.Sprintf("page %d in place of %d", other, at/page)
}

func TestADamagedDatabaseIsReportedAndLeftAsItIs(t *testing.T) {
	from := fullStore(t)
	whole, err := os.ReadFile(filepath.Join(from, database))
	if err != nil {
		t.Fatal(err)
	}
	if *seed == 0 {
		*seed = rand.Uint64()
	}
	t.Logf("-store.seed=%d", *seed)
	draw := rand.New(rand.NewPCG(*seed, 0))
	refused := 0
	for done := 0; done < *damages; {
		var dirs, whats []string
		var dbs [][]byte
		for range min(10, *damages-done) {
			db, what := damage(draw, whole)
			dbs, whats, dirs = append(dbs, db), append(whats, what), append(dirs, copyStore(t, from, db))
		}
		said := openAll(t, dirs)
		for i, dir := range dirs {
			path := filepath.Join(dir, database)
			outcome := said[dir]
			switch {
			case outcome == "opened":
			case strings.HasPrefix(outcome, "refused: ") && strings.Contains(outcome, path) && strings.Contains(outcome, "restore "+dir):
				refused++
				if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, dbs[i]) {
					t.Errorf("%s: the file was changed (%v)", whats[i], err)
				}
			default:
				t.Errorf("%s: %s", whats[i], outcome)
			}
			_ = os.RemoveAll(dir) // do not keep all copies until the end of the test
		}
		done += len(dirs)
	}
	t.Logf("%d of %d were refused", refused, *damages)
	if refused < *damages/5 {
		t.Errorf("only %d of %d were refused", refused, *damages)
	}
}

// openAll uses the stores, one after the other, in another process, and returns the outcomes. If a store ends the process,
// the stores after it get a new one.
func openAll(t *testing.T, dirs []string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for len(dirs) > 0 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), openEnv+"="+strings.Join(dirs, string(filepath.ListSeparator)))
		var trace bytes.Buffer
		cmd.Stderr = &trace
		out, err := cmd.Output()
		lines := bufio.NewScanner(bytes.NewReader(out))
		for lines.Scan() && len(dirs) > 0 {
			if outcome, ok := strings.CutPrefix(lines.Text(), dirs[0]+": "); ok {
				said[dirs[0]], dirs = outcome, dirs[1:]
			}
		}
		if len(dirs) > 0 {
			said[dirs[0]] = fmt.Sprintf("ended the process: %v: %.600s", err, trace.String())
			dirs = dirs[1:]
		}
	}
	return said
}

func TestAWholeStoreOpens(t *testing.T) {
	dir := fullStore(t)
	for range 2 { // as it was, and after use
		if got := openAll(t, []string{dir})[dir]; got != "opened" {
			t.Fatal(got)
		}
	}
}

func TestAnEmptyStoreOpens(t *testing.T) {
	empty := t.TempDir()
	if err := open(t, empty).Close(); err != nil {
		t.Fatal(err)
	}
	if err := open(t, empty).Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADataDirectoryMayHaveBracketsInItsPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a[b")
	if err := open(t, dir).Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "etcd/member/wal/0000000000000000-0000000000000000.wal")
	if err := os.WriteFile(log, []byte(strings.Repeat("noise ", 20_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := store.Open(context.Background(), dir); err == nil {
		_ = s.Close()
		t.Fatal("it opened")
	} else if !strings.Contains(err.Error(), log) {
		t.Errorf("error %q does not name the log", err)
	}
}
