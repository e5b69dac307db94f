package diskpressure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/filesystem"
)

// Holder is what takes space on a file system: a pod or a claim.
type Holder struct {
	Kind            Kind
	Namespace, Name string
	UID             types.UID
	Parts           []Part
}

// Kind says what a Holder is.
type Kind string

// The kinds of holders.
const (
	Pod   Kind = "pod"
	Claim Kind = "claim"
)

// Part is a part of what a Holder takes. What is empty if there is only one.
type Part struct {
	What  string
	Bytes int64
}

const (
	// most is how many holders are named, and how many parts of each.
	most = 3
	// mattersPercent of the file system, as for the thresholds, make a holder worth naming.
	mattersPercent = 1
	// partShare: a part is worth naming if it is not less than this fraction of the holder.
	partShare = 10

	// namesFollow is between what is short and the names.
	namesFollow = "; the largest there: "
)

// Bytes is how much the holder takes.
func (h Holder) Bytes() (sum int64) {
	for _, p := range h.Parts {
		sum += p.Bytes
	}
	return sum
}

// Largest returns the holders to name on a file system of this size, the largest first. Those that were named before stay as long as
// that is about true: small changes are not worth a write to the Node.
func Largest(named, holders []Holder, size int64) []Holder {
	matters := filesystem.Share(size, enoughBytes, mattersPercent)
	large := slices.DeleteFunc(slices.Clone(holders), func(h Holder) bool { return h.Bytes() < max(matters, 1) })
	slices.SortFunc(large, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(b.Bytes(), a.Bytes()), strings.Compare(a.id(), b.id()))
	})
	if largest := large[:min(len(large), most)]; !areAbout(named, holders, largest) {
		return largest
	}
	return named
}

// areAbout reports whether the named holders still take about what they did, and none of the largest takes much more.
func areAbout(named, holders, largest []Holder) bool {
	for _, h := range named {
		now := find(holders, h)
		if now == nil || now.Bytes() > 2*h.Bytes() || h.Bytes() > 2*now.Bytes() {
			return false
		}
	}
	return !slices.ContainsFunc(largest, func(h Holder) bool {
		return find(named, h) == nil && (len(named) < most || h.Bytes() > 2*named[most-1].Bytes())
	})
}

func find(in []Holder, h Holder) *Holder {
	i := slices.IndexFunc(in, func(other Holder) bool { return other.id() == h.id() && other.UID == h.UID })
	if i < 0 {
		return nil
	}
	return &in[i]
}

func (h Holder) id() string { return fmt.Sprintf("%s %s/%s", h.Kind, h.Namespace, h.Name) }

// Names ends the message of a condition with the names and sizes of the largest holders.
func Names(largest []Holder) string {
	if len(largest) == 0 {
		return ""
	}
	var names []string
	for _, h := range largest {
		names = append(names, h.id()+" ("+h.Text()+")")
	}
	return namesFollow + strings.Join(names, ", ")
}

// SaysTheSame reports whether two messages differ in the names of the largest holders only. Where the first has none, names are news.
func SaysTheSame(before, now string) bool {
	wasShort, _, named := strings.Cut(before, namesFollow)
	isShort, _, _ := strings.Cut(now, namesFollow)
	return before == now || named && wasShort == isShort
}

// Text says what is large of the holder.
func (h Holder) Text() string {
	parts := slices.DeleteFunc(slices.Clone(h.Parts), func(p Part) bool { return p.Bytes < h.Bytes()/partShare })
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Bytes, a.Bytes) })
	var texts []string
	for _, p := range parts[:min(len(parts), most)] {
		texts = append(texts, strings.TrimSpace(p.What+" "+filesystem.Text(p.Bytes)))
	}
	return strings.Join(texts, ", ")
}

// OfPod returns what a message with Names says of a pod; empty if it does not name the pod.
func OfPod(message, namespace, name string) string {
	_, text, _ := strings.Cut(message, " "+Holder{Kind: Pod, Namespace: namespace, Name: name}.id()+" (")
	text, _, _ = strings.Cut(text, ")")
	return text
}
