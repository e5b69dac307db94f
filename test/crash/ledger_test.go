package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// ledger is the file to which the containers of one schedule write lines: tag, index, nanoseconds since 1970, "start"
// or "end".
type ledger struct{ path string }

// pods returns a template whose pods write a line, do work, and write another line. The tag of their run is the value
// of the label tagLabel.
func (l ledger) pods(work, tagLabel string) corev1.PodTemplateSpec {
	line := func(what string) string {
		return fmt.Sprintf(`echo "$TAG ${JOB_POD_INDEX:-0} $(date +%%s%%N) %s" >>%s`, what, l.path)
	}
	return corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		RestartPolicy: corev1.RestartPolicyNever,
		Containers: []corev1.Container{{
			Name:    "main",
			Image:   "host",
			Command: []string{"sh", "-c", line("start") + "; " + work + "; code=$?; " + line("end") + "; exit $code"},
			Env: []corev1.EnvVar{{Name: "TAG", ValueFrom: &corev1.EnvVarSource{
				FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['" + tagLabel + "']"}}}},
		}},
	}}
}

// entry is one container that ran.
type entry struct {
	tag, index string
	start, end time.Time
}

// read returns what ran, in the order of the starts. Two starts of the same pod of the same run are two entries.
func (l ledger) read(t *testing.T) []entry {
	t.Helper()
	text, err := os.ReadFile(l.path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var entries []entry
	for line := range strings.Lines(string(text)) {
		var tag, index, what string
		var nanoseconds int64
		if _, err := fmt.Sscan(line, &tag, &index, &nanoseconds, &what); err != nil {
			t.Fatalf("%s: %q: %v", l.path, line, err)
		}
		at := time.Unix(0, nanoseconds)
		if what == "start" {
			entries = append(entries, entry{tag: tag, index: index, start: at})
			continue
		}
		i := slices.IndexFunc(entries, func(e entry) bool { return e.tag == tag && e.index == index && e.end.IsZero() })
		if i < 0 {
			t.Errorf("%s: run %s, pod %s ends without a start", l.path, tag, index)
			continue
		}
		entries[i].end = at
	}
	return entries
}

func newLedger(t *testing.T, dir, name string) ledger {
	t.Helper()
	return ledger{filepath.Join(dir, name+".ledger")}
}
