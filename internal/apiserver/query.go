package apiserver

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// addQueries adds conversions from a URL's query to the options of subresources to the scheme.
func addQueries(scheme *runtime.Scheme) error {
	return errors.Join(addQuery(scheme, jobLogOptions), addQuery(scheme, logOptions),
		addQuery(scheme, execOptions), addQuery(scheme, attachOptions), addQuery(scheme, portForwardOptions))
}

func addQuery[T any](scheme *runtime.Scheme, read func(*query) T) error {
	return scheme.AddConversionFunc((*url.Values)(nil), (*T)(nil), func(in, out any, _ conversion.Scope) error {
		q := query{values: *in.(*url.Values)}
		options := read(&q)
		if q.err == nil {
			*out.(*T) = options
		}
		return q.err
	})
}

func execOptions(q *query) corev1.PodExecOptions {
	return corev1.PodExecOptions{
		Stdin: q.bool("stdin"), Stdout: q.bool("stdout"), Stderr: q.bool("stderr"), TTY: q.bool("tty"),
		Container: q.get("container"), Command: q.values["command"],
	}
}

func attachOptions(q *query) corev1.PodAttachOptions {
	return corev1.PodAttachOptions{
		Stdin: q.bool("stdin"), Stdout: q.bool("stdout"), Stderr: q.bool("stderr"), TTY: q.bool("tty"), Container: q.get("container"),
	}
}

func portForwardOptions(q *query) corev1.PodPortForwardOptions {
	return corev1.PodPortForwardOptions{Ports: q.ports("ports")}
}

func logOptions(q *query) corev1.PodLogOptions {
	options := corev1.PodLogOptions{
		Container:                    q.get("container"),
		Follow:                       q.bool("follow"),
		Previous:                     q.bool("previous"),
		Timestamps:                   q.bool("timestamps"),
		InsecureSkipTLSVerifyBackend: q.bool("insecureSkipTLSVerifyBackend"),
		SinceSeconds:                 q.int("sinceSeconds"),
		TailLines:                    q.int("tailLines"),
		LimitBytes:                   q.int("limitBytes"),
		SinceTime:                    q.time("sinceTime"),
	}
	if stream := q.get("stream"); stream != "" {
		options.Stream = &stream
	}
	return options
}

func jobLogOptions(q *query) JobLogOptions {
	return JobLogOptions{PodLogOptions: logOptions(q), Index: q.int("index"), Attempt: q.int("attempt"), Pod: q.get("pod")}
}

// query reads typed query parameters. err is the first error.
type query struct {
	values url.Values
	err    error
}

func (q *query) get(name string) string { return q.values.Get(name) }

func (q *query) bool(name string) bool {
	if !q.values.Has(name) {
		return false
	}
	// As everywhere in the API, all values but these are true.
	switch q.get(name) {
	case "false", "0":
		return false
	}
	return true
}

func (q *query) int(name string) *int64 {
	if q.get(name) == "" {
		return nil
	}
	n, err := strconv.ParseInt(q.get(name), 10, 64)
	q.fail(name, err)
	return &n
}

// ports reads a list whose items are separated by commas.
func (q *query) ports(name string) []int32 {
	var ports []int32
	for _, value := range q.values[name] {
		for text := range strings.SplitSeq(value, ",") {
			port, err := strconv.ParseUint(text, 10, 16)
			q.fail(name, err)
			ports = append(ports, int32(port))
		}
	}
	return ports
}

func (q *query) time(name string) *metav1.Time {
	if q.get(name) == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339, q.get(name))
	q.fail(name, err)
	return &metav1.Time{Time: t}
}

func (q *query) fail(name string, err error) {
	if err != nil && q.err == nil {
		q.err = fmt.Errorf("query parameter %s: %w", name, err)
	}
}
