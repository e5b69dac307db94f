package loop

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// Latest is the newest version of one object: the server's last answer, until that or a newer version is cached. The zero
// value has no answer.
type Latest[T Object] struct {
	newest T
	// Confirmed means that the server has answered for the object, so that no older version is taken for the newest.
	Confirmed bool
}

// ObserveWrite records the server's answer to a write or a live read.
func (l *Latest[T]) ObserveWrite(answer T) {
	l.Confirmed = true
	var none T
	if l.newest == none || Older(l.newest, answer) {
		l.newest = answer
	}
}

// Newest returns the newer of the cached version and the server's last answer.
func (l *Latest[T]) Newest(cached T) T {
	var none T
	if l.newest != none && Older(cached, l.newest) {
		return l.newest
	}
	l.newest = none
	return cached
}

// Covers reports whether the cached version is the server's last answer, or older.
func (l *Latest[T]) Covers(cached T) bool {
	var none T
	return l.newest != none && !Older(l.newest, cached)
}

// Older reports whether a is an older version than b, an object of the same kind. If a version is not a number, neither is
// older.
func Older(a, b metav1.Object) bool {
	return OlderVersion(a.GetResourceVersion(), b.GetResourceVersion())
}

// OlderVersion is Older for resource versions of objects or lists of one kind.
func OlderVersion(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
