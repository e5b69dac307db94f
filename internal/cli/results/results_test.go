package results

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
	"github.com/stint-dev/stint/test/wrappers"
)

var now = time.Date(2026, 1, 2, 3, 10, 0, 0, time.UTC)

func ago(seconds int) *metav1.Time {
	return ptr.To(metav1.NewTime(now.Add(-time.Duration(seconds) * time.Second)))
}

func some() []stintv1.JobResult {
	return []stintv1.JobResult{
		{
			PodResult: stintv1.PodResult{Pod: "a-0-x", UID: "u0", Index: ptr.To[int32](0), Node: "n1", Phase: corev1.PodFailed, Container: "main",
				ExitCode: ptr.To[int32](137), Signal: 9, Reason: "OOMKilled", CreatedAt: ago(301), StartedAt: ago(300), FinishedAt: ago(60),
				Restarts: 1, Message: "first, \"second\"\n\x1b[31mthird\n"},
			Attempts: 3,
			Earlier: []stintv1.PodResult{{Pod: "a-0-w", UID: "u1", Index: ptr.To[int32](0), Node: "n2", Phase: corev1.PodFailed,
				ExitCode: ptr.To[int32](1), Reason: "Error", StartedAt: ago(400), FinishedAt: ago(399)}},
		},
		{PodResult: stintv1.PodResult{Pod: "a-1-x", UID: "u2", Index: ptr.To[int32](1), Phase: corev1.PodPending, Reason: "ImagePullBackOff", CreatedAt: ago(5)}},
		{PodResult: stintv1.PodResult{Pod: "a-22-x", UID: "u3", Index: ptr.To[int32](22), Node: "n1", Phase: corev1.PodRunning, StartedAt: ago(75)}, Attempts: 1},
	}
}

func TestTable(t *testing.T) {
	for sentence, c := range map[string]struct {
		table table
		want  string
	}{
		"a line for each index": {table{indexed: true}, `
INDEX   STATUS    ATTEMPTS   EXIT         REASON             NODE   STARTED   DURATION   MESSAGE
0       Failed    3          137 (KILL)   OOMKilled          n1     5m ago    4m         first, "second" [31mthird
1       Pending   0          -            ImagePullBackOff   -      -         -
22      Running   1          -            -                  n1     75s ago   75s
`},
		"every pod of each index": {table{indexed: true, all: true}, `
INDEX   POD      STATUS    ATTEMPTS   EXIT         REASON             NODE   STARTED     DURATION   MESSAGE
0       a-0-w    Failed    1          1            Error              n2     6m40s ago   1s
0       a-0-x    Failed    2-3        137 (KILL)   OOMKilled          n1     5m ago      4m         first, "second" [31mthird
1       a-1-x    Pending   -          -            ImagePullBackOff   -      -           -
22      a-22-x   Running   1          -            -                  n1     75s ago     75s
`},
		"cut to the width of a terminal": {table{indexed: true, width: 30}, `
INDEX   STATUS    ATTEMPTS   …
0       Failed    3          …
1       Pending   0          …
22      Running   1          …
`},
		"pods where there are no indexes": {table{width: 20}, `
POD      STATUS    …
a-0-x    Failed    …
a-1-x    Pending   …
a-22-x   Running   …
`},
	} {
		t.Run(sentence, func(t *testing.T) {
			var out bytes.Buffer
			c.table.now = now
			if err := c.table.print(&out, some()); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), out.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCSV(t *testing.T) {
	var out bytes.Buffer
	if err := printCSV(&out, &stintv1.JobResults{Items: some()}, now); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`index,pod,uid,status,attempts,restarts,container,exitCode,signal,reason,node,createdAt,startedAt,finishedAt,seconds,message
0,a-0-x,u0,Failed,3,1,main,137,9,OOMKilled,n1,2026-01-02T03:04:59Z,2026-01-02T03:05:00Z,2026-01-02T03:09:00Z,240,"first, ""second""
`+"\x1b"+`[31mthird"
1,a-1-x,u2,Pending,0,0,,,,ImagePullBackOff,,2026-01-02T03:09:55Z,,,,
22,a-22-x,u3,Running,1,0,,,,,n1,,2026-01-02T03:08:45Z,,75,
`, "\n", "\r\n")
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

func TestWhatIsNotKnownIsSaid(t *testing.T) {
	job, counted := wrappers.MakeJob("a").Obj(), wrappers.MakeJob("a").Failed(2).Obj()
	ended := wrappers.MakeJob("a").Condition(batchv1.JobFailed, "").Obj()
	for sentence, c := range map[string]struct {
		job           *batchv1.Job
		dropped       int64
		failedOnly    bool
		note, nothing string
	}{
		"nothing has begun":                     {job: job, nothing: "no pod has been started yet"},
		"nothing ever began":                    {job: ended, nothing: "no pod was ever started"},
		"nothing has failed":                    {job: job, failedOnly: true, nothing: "nothing has failed"},
		"what failed was not kept":              {job: counted, failedOnly: true, note: "the results of 2 terminated pods are not known", nothing: "no known result is a failure"},
		"what ended was not kept":               {job: counted, note: "the results of 2 terminated pods are not known", nothing: "no result is known"},
		"what ended had to make room for later": {job: counted, dropped: 2, note: "the 2 oldest results were deleted: see --max-results", nothing: "no result is known"},
	} {
		t.Run(sentence, func(t *testing.T) {
			lost := results.Unknown(c.job, &stintv1.JobResults{Dropped: c.dropped})
			if got := unknown(lost, c.dropped); got != c.note && (c.note == "" || !strings.HasPrefix(got, c.note)) {
				t.Errorf("note %q, want %q", got, c.note)
			}
			o := Options{FailedOnly: c.failedOnly}
			if got := o.nothing(c.job, lost == 0); got != c.nothing {
				t.Errorf("got %q, want %q", got, c.nothing)
			}
		})
	}
}
