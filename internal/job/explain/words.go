package explain

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// counted is "1 pod" or "2 pods".
func counted(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case noun == "index":
		return fmt.Sprintf("%d indexes", n)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func verb(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// namesTold is how many of several are named.
const namesTold = 3

// some names a few of many: "a, b, c and 4 more".
func some(names []string) string {
	if len(names) <= namesTold {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:namesTold], ", "), len(names)-namesTold)
}

func podNames(pods []*corev1.Pod) []string {
	list := make([]string, 0, len(pods))
	for _, p := range pods {
		list = append(list, p.Name)
	}
	return list
}

func spell(d time.Duration) string { return duration.HumanDuration(d) }

// moment is t as the API has it; nil for none.
func moment(t time.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	m := metav1.NewTime(t)
	return &m
}

// lowerFirst makes a sentence part of another.
func lowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(first)) + s[size:]
}

// earlier returns the earlier of two times, of which zero is none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
