package results

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

func printJSON(out io.Writer, all *stintv1.JobResults) error {
	all.SetGroupVersionKind(stintv1.SchemeGroupVersion.WithKind("JobResults"))
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

var columns = []string{"index", "pod", "uid", "status", "attempts", "restarts", "container", "exitCode", "signal", "reason",
	"node", "createdAt", "startedAt", "finishedAt", "seconds", "message"}

// printCSV writes CSV as in RFC 4180: a header, and a record for each index or pod.
func printCSV(out io.Writer, all *stintv1.JobResults, now time.Time) error {
	w := csv.NewWriter(out)
	w.UseCRLF = true
	if err := w.Write(columns); err != nil {
		return err
	}
	for i := range all.Items {
		if err := w.Write(record(&all.Items[i], now)); err != nil {
			return err
		}
	}
	w.Flush()
	return w.Error()
}

func record(r *stintv1.JobResult, now time.Time) []string {
	seconds := ""
	if d, ok := took(&r.PodResult, now); ok {
		seconds = fmt.Sprint(int64(d / time.Second))
	}
	return []string{
		number(r.Index), r.Pod, string(r.UID), string(r.Phase), fmt.Sprint(r.Attempts), fmt.Sprint(r.Restarts), r.Container,
		number(r.ExitCode), signal(r.Signal), r.Reason, r.Node, when(r.CreatedAt), when(r.StartedAt), when(r.FinishedAt), seconds, strings.TrimRight(r.Message, "\n"),
	}
}

func number(n *int32) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(int(*n))
}

func signal(n int32) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(int(n))
}

func when(t *metav1.Time) string {
	if t == nil {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
