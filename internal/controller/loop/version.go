package loop

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Latest is the newest version of one object: what the server has answered last, until the informer shows it. The zero
// value knows of no answer.
type Latest[T Object] struct {
	newest T
	// Confirmed tells that the server has answered once: no older version is taken for the newest since.
	Confirmed bool
}

// ObserveWrite takes in what the server has answered.
func (l *Latest[T]) ObserveWrite(answer T) {
	l.Confirmed = true
	var none T
	if l.newest == none || Older(l.newest, answer) {
		l.newest = answer
	}
}

// Newest returns the newer of what the informer shows and what the server has answered.
func (l *Latest[T]) Newest(shown T) T {
	var none T
	if l.newest != none && Older(shown, l.newest) {
		return l.newest
	}
	l.newest = none
	return shown
}

// Covers tells that what the informer shows is no news.
func (l *Latest[T]) Covers(shown T) bool {
	var none T
	return l.newest != none && !Older(l.newest, shown)
}

// Older compares two versions of objects of one kind. Versions that are no numbers tell nothing; then neither is older.
func Older(a, b metav1.Object) bool {
	return OlderVersion(a.GetResourceVersion(), b.GetResourceVersion())
}

// OlderVersion compares two versions of objects of one kind, or of lists of them.
func OlderVersion(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
