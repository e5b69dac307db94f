package podlogs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/node/logs"
)

func TestOldStartsGoFirstAndTheLastTwoStay(t *testing.T) {
	at := func(minute int) time.Time { return time.Unix(0, 0).Add(time.Duration(minute) * time.Minute) }
	file := func(container string, start, minute int, bytes int64) startLog {
		return startLog{container: container, start: start, path: container + "/" + string(rune('0'+start)), bytes: bytes, written: at(minute)}
	}
	for sentence, test := range map[string]struct {
		files []startLog
		want  []string
	}{
		"within the bound nothing goes": {[]startLog{file("a", 0, 0, 50), file("a", 1, 1, 25), file("a", 2, 2, 25)}, nil},
		"beyond it the oldest goes":     {[]startLog{file("a", 2, 2, 40), file("a", 1, 1, 40), file("a", 0, 0, 40)}, []string{"a/0"}},
		"and no more than must":         {[]startLog{file("a", 0, 0, 10), file("a", 1, 1, 10), file("a", 2, 2, 50), file("a", 3, 3, 35)}, []string{"a/0"}},
		"the last two stay":             {[]startLog{file("a", 5, 0, 500), file("a", 6, 1, 500)}, nil},
		"those of other containers too": {[]startLog{file("a", 0, 0, 60), file("b", 0, 1, 10), file("b", 1, 2, 10), file("b", 2, 3, 60)}, []string{"b/0"}},
	} {
		var got []string
		for _, f := range outdated(test.files, 100) {
			got = append(got, f.path)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s", sentence, diff)
		}
	}
}

func TestLogsOfACrashLoopStayWithinTheirBound(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "p", UID: "u"}}
	data := t.TempDir()
	s := Stored(data)
	dir := s.ContainerDir(pod, "main")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	sparse := func(name string, size int64) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
	}
	for _, start := range []string{"0", "1", "2", "3", "4"} {
		sparse(start+".log", 10<<20)
		sparse(start+".log.20260102-150405.000000000", 10<<20)
		s.TrimStarts(pod)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var total int64
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > podLogBytes+4096 || total < 40<<20 {
		t.Errorf("%d bytes are left in %v", total, entries)
	}
	ask := func(attempt int32) error {
		of := &stintv1.PodResult{Pod: "p", UID: types.UID("u")}
		log, err := s.AttemptLogs(t.Context(), "ns", of, attempt, &corev1.PodLogOptions{Container: "main"})
		if err == nil {
			log.Close()
		}
		return err
	}
	var gone logs.GoneError
	if err := ask(0); !errors.As(err, &gone) {
		t.Errorf("the first start: %v", err)
	}
	for _, attempt := range []int32{3, 4} {
		if err := ask(attempt); err != nil {
			t.Errorf("start %d: %v", attempt, err)
		}
	}
}
