package output

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/image/progress"
)

var update = flag.Bool("update", false, "write golden files")

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// tell shows a run of several Jobs, some of which fail.
func tell(o Output) {
	good, bad := Job{"default", "good"}, Job{"team", "bad"}
	o.Note("image perl is not pulled: commands run on this machine")
	o.Start(good, Created)
	o.Start(bad, Replaced)
	o.Start(Job{"default", "old"}, Followed)
	for i := range 4 {
		at := start.Add(time.Duration(i) * 1500 * time.Millisecond)
		o.Progress(Progress{Job: good, At: at, Active: 2, Succeeded: int32(i), Wanted: 4, Rate: float64(i), Left: time.Duration(4-i) * time.Second})
	}
	o.Log(Line{Job: good, Pod: "good-x", Container: "main", Prefix: "good-x: ", Text: []byte("<one> & \"two\"")})
	o.Log(Line{Job: good, Pod: "good-x", Container: "main", Text: []byte("unended"), Unterminated: true})
	failure := PodFailure{Job: bad, Pod: "bad-y", Containers: []ContainerFailure{{Name: "main", ExitCode: 137, Signal: 9, Reason: "OOMKilled"}}}
	o.PodFailed(failure)
	wait := PodWait{Job: bad, Pod: "bad-w", Reason: "CreateContainerConfigError", Message: "configmap \"settings\" not found"}
	o.PodWaiting(wait)
	pull := Pull{Pull: progress.Pull{Image: "perl:5.34.0", Done: 34_000_000, Total: 120_000_000}, At: start, Took: time.Second}
	o.Pull(pull)
	pull.At, pull.Done = start.Add(2*time.Second), 50_000_000
	o.Pull(pull)
	pull.At, pull.Took, pull.Done = start.Add(11*time.Second), 12*time.Second, 100_000_000
	o.Pull(pull)
	pull.Ended, pull.Arrived, pull.Done = true, true, 120_000_000
	o.Pull(pull)
	pull.Image, pull.Ended, pull.Arrived = "none", true, false
	o.Pull(pull)
	o.Finish(Result{Job: good, Outcome: Complete, Succeeded: 4, Took: 6 * time.Second})
	failure.LastLines = []string{"oops", "no memory"}
	evicted := PodFailure{Job: bad, Pod: "bad-z", Reason: "Evicted", Message: "no room"}
	o.Finish(Result{Job: bad, Outcome: Failed, Reason: "BackoffLimitExceeded", Message: "Job has reached the specified backoff limit",
		Failures: 7, Took: 3*time.Minute + 20*time.Second, Pods: []PodFailure{failure, evicted}, MorePods: 5, Results: "stint results bad -n team"})
	o.Finish(Result{Job: Job{"default", "old"}, Outcome: Deleted})
	wait.Message = "two\nlines\x1b[2J"
	o.Finish(Result{Job: Job{"default", "late"}, Outcome: Failed, Reason: "DeadlineExceeded", Waiting: []PodWait{wait}, MoreWaiting: 3})
}

func TestGolden(t *testing.T) {
	clock := func() time.Time { return start }
	for name, open := range map[string]func(out, status *bytes.Buffer) Output{
		"plain":     func(out, status *bytes.Buffer) Output { return NewPlain(out, status, false) },
		"onestream": func(out, _ *bytes.Buffer) Output { return NewPlain(out, out, true) },
		"quiet":     func(out, status *bytes.Buffer) Output { return NewQuiet(out, status, false) },
		"json":      func(out, _ *bytes.Buffer) Output { return NewJSON(out, clock) },
	} {
		t.Run(name, func(t *testing.T) {
			var out, status bytes.Buffer
			o := open(&out, &status)
			tell(o)
			if err := o.Close(); err != nil {
				t.Fatal(err)
			}
			got := "== stdout\n" + out.String() + "\n== stderr\n" + status.String()
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestManyJobsShareAStatusLine(t *testing.T) {
	var out, status bytes.Buffer
	p := NewPlain(&out, &status, false)
	for i := range 20 {
		job := Job{"default", string(rune('a' + i))}
		p.Start(job, Created)
		p.Progress(Progress{Job: job, At: start, Active: 1})
	}
	status.Reset()
	p.Progress(Progress{Job: Job{"default", "a"}, At: start.Add(time.Minute), Active: 3, Succeeded: 2})
	want := "0 of 20 jobs ended; pods: 22 active, 2 succeeded, 0 failed\n"
	if diff := cmp.Diff(want, status.String()); diff != "" {
		t.Error(diff)
	}
}

type brokenPipe struct{ err error }

func (b brokenPipe) Write([]byte) (int, error) { return 0, b.err }

func TestReaderThatGoesAwayIsNoError(t *testing.T) {
	for sentence, tc := range map[string]struct {
		err  error
		fail bool
	}{
		"a reader that has seen enough": {&os.PathError{Op: "write", Path: "stdout", Err: syscall.EPIPE}, false},
		"a full disk":                   {&os.PathError{Op: "write", Path: "stdout", Err: syscall.ENOSPC}, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, o := range []Output{
				NewPlain(brokenPipe{tc.err}, &bytes.Buffer{}, false),
				NewJSON(brokenPipe{tc.err}, time.Now),
			} {
				o.Log(Line{Text: []byte("x")})
				err := o.Close()
				if (err != nil) != tc.fail {
					t.Errorf("%T: %v", o, err)
				}
				if tc.fail && !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%T does not say why: %v", o, err)
				}
			}
		})
	}
}

func TestLiveEndsWithAllOutput(t *testing.T) {
	var terminal bytes.Buffer
	l := newLive(&terminal, func() (int, int) { return 80, 24 })
	tell(l)
	for range 2000 {
		l.Log(Line{Prefix: "p: ", Text: []byte("50%\r100%")})
	}
	l.Log(Line{Text: []byte("the last line")})
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<one>", "job good completed", "    | no memory", "p: 100%", "the last line"} {
		if !strings.Contains(terminal.String(), want) {
			t.Errorf("%q was not shown", want)
		}
	}
}
