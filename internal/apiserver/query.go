package apiserver

import (
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
	err := scheme.AddConversionFunc((*url.Values)(nil), (*JobLogOptions)(nil), func(in, out any, _ conversion.Scope) error {
		return readJobLogOptions(*in.(*url.Values), out.(*JobLogOptions))
	})
	if err != nil {
		return err
	}
	err = scheme.AddConversionFunc((*url.Values)(nil), (*corev1.PodAttachOptions)(nil), func(in, out any, _ conversion.Scope) error {
		q := query{values: *in.(*url.Values)}
		*out.(*corev1.PodAttachOptions) = corev1.PodAttachOptions{
			Stdin: q.bool("stdin"), Stdout: q.bool("stdout"), Stderr: q.bool("stderr"), TTY: q.bool("tty"), Container: q.get("container"),
		}
		return q.err
	})
	if err != nil {
		return err
	}
	err = scheme.AddConversionFunc((*url.Values)(nil), (*corev1.PodPortForwardOptions)(nil), func(in, out any, _ conversion.Scope) error {
		q := query{values: *in.(*url.Values)}
		*out.(*corev1.PodPortForwardOptions) = corev1.PodPortForwardOptions{Ports: q.ports("ports")}
		return q.err
	})
	if err != nil {
		return err
	}
	err = scheme.AddConversionFunc((*url.Values)(nil), (*corev1.PodExecOptions)(nil), func(in, out any, _ conversion.Scope) error {
		q := query{values: *in.(*url.Values)}
		*out.(*corev1.PodExecOptions) = corev1.PodExecOptions{
			Stdin: q.bool("stdin"), Stdout: q.bool("stdout"), Stderr: q.bool("stderr"), TTY: q.bool("tty"),
			Container: q.get("container"), Command: q.values["command"],
		}
		return q.err
	})
	if err != nil {
		return err
	}
	return scheme.AddConversionFunc((*url.Values)(nil), (*corev1.PodLogOptions)(nil), func(in, out any, _ conversion.Scope) error {
		options, err := logOptions(*in.(*url.Values))
		if err == nil {
			*out.(*corev1.PodLogOptions) = *options
		}
		return err
	})
}

func logOptions(values url.Values) (*corev1.PodLogOptions, error) {
	q := query{values: values}
	options := &corev1.PodLogOptions{
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
	return options, q.err
}

func readJobLogOptions(values url.Values, out *JobLogOptions) error {
	options, err := logOptions(values)
	if err != nil {
		return err
	}
	q := query{values: values}
	*out = JobLogOptions{PodLogOptions: *options, Index: q.int("index"), Attempt: q.int("attempt"), Pod: q.get("pod")}
	return q.err
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
