package explain

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/stint-dev/stint/internal/job"
)

// counted returns "1 pod" or "2 pods".
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

// maxNames bounds the names in a text.
const maxNames = 3

// some names a few of many: "a, b, c and 4 more".
func some(names []string) string {
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}

// maxIntervals bounds the intervals of indexes in a text.
const maxIntervals = 5

func abbreviated(x job.Indexes) string {
	if len(x) <= maxIntervals {
		return x.String()
	}
	return x[:maxIntervals].String() + ",…"
}

func podNames(pods []*corev1.Pod) []string {
	list := make([]string, 0, len(pods))
	for _, p := range pods {
		list = append(list, p.Name)
	}
	return list
}

func humanDuration(d time.Duration) string { return duration.HumanDuration(d) }

// lowerFirst returns s with a small first letter, for a sentence that becomes part of another.
func lowerFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(first)) + s[size:]
}
