package clienttest

import (
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/test/await"
)

// promisesOf are those that hold for every kind.
func promisesOf[T client.Object](s subject[T]) []promise {
	out := []promise{
		{"Create and Get", s.createsAndGets},
		{"List has those of the namespace that the selector matches", s.lists},
		{"List has a version between those of changes before and after it", s.listsAtAVersion},
		{"Modify changes the main part", s.modifies},
		{"Modify leaves what others wrote meanwhile", s.merges},
		{"Modify takes the last entries and leaves those that came meanwhile", s.empties},
		{"Modify of what is gone, or of another object of that name, is NotFound", s.modifiesOne},
		{"Delete asks for the UID and the version", s.deletes},
		{"Informer shows all", s.shows},
	}
	if s.done != nil {
		out = slices.Insert(out, 3, promise{"UpdateStatus and ModifyStatus change the status", s.changesStatus})
	}
	for i := range out {
		out[i].name = s.kind + ": " + out[i].name
	}
	return out
}

func (s subject[T]) createsAndGets(w *world) {
	if _, err := s.of(w).Get(w.Context(), w.namespace, "a"); !apierrors.IsNotFound(err) {
		w.Errorf("get before it is there: %v, want NotFound", err)
	}
	made := s.made(w, "a")
	read := must(s.of(w).Get(w.Context(), w.namespace, "a"))(w)
	if made.GetUID() == "" || made.GetUID() != read.GetUID() || made.GetResourceVersion() != read.GetResourceVersion() {
		w.Errorf("made %s %s, stored %s %s", made.GetUID(), made.GetResourceVersion(), read.GetUID(), read.GetResourceVersion())
	}
	if _, err := s.of(w).Create(w.Context(), s.named(w, "a")); !apierrors.IsAlreadyExists(err) {
		w.Errorf("the same name again: %v, want AlreadyExists", err)
	}
	bad := s.named(w, "bad")
	s.spoil(bad)
	if _, err := s.of(w).Create(w.Context(), bad); !apierrors.IsInvalid(err) {
		w.Errorf("bad: %v, want Invalid", err)
	}
	lost := s.named(w, "lost")
	lost.SetNamespace("nowhere")
	if _, err := s.of(w).Create(w.Context(), lost); !apierrors.IsNotFound(err) {
		w.Errorf("in a missing namespace: %v, want NotFound", err)
	}
}

func (s subject[T]) lists(w *world) {
	labelled := func(value string) func(T) {
		return func(o T) { o.SetLabels(map[string]string{"x": value}) }
	}
	s.made(w, "a", labelled("1"))
	s.made(w, "b", labelled("2"))
	s.made(w, "c", labelled("1"))
	for selector, want := range map[string]string{"x=1": "ac", "": "abc", "x=3": ""} {
		got := ""
		parsed := must(labels.Parse(selector))(w)
		if _, err := s.of(w).List(w.Context(), w.namespace, parsed, func(o T) { got += o.GetName() }); err != nil {
			w.Fatal(err)
		}
		if got != want {
			w.Errorf("%q: %q, want %q", selector, got, want)
		}
	}
}

func (s subject[T]) listsAtAVersion(w *world) {
	older := s.made(w, "older")
	version := must(s.of(w).List(w.Context(), w.namespace, labels.Everything(), func(T) {}))(w)
	newer := s.made(w, "newer")
	for _, o := range []T{older, newer} {
		order, err := resourceversion.CompareResourceVersion(o.GetResourceVersion(), version)
		if err != nil || order > 0 != (o.GetName() == "newer") {
			w.Errorf("%s has version %s, the list between them %q: %v", o.GetName(), o.GetResourceVersion(), version, err)
		}
	}
}

func (s subject[T]) modifies(w *world) {
	made := s.made(w, "a")
	changed := must(s.of(w).Modify(w.Context(), made, func(o T) {
		s.edit(o)
		add(o, "x", "y")
		if s.done != nil {
			s.done(o)
		}
	}))(w)
	// The answer may lack fields that no controller reads.
	stored := must(s.of(w).Get(w.Context(), w.namespace, "a"))(w)
	if !s.edited(stored) || changed.GetLabels()["x"] != "y" || s.done != nil && s.isDone(changed) {
		w.Errorf("the change made %+v, with the answer %+v", stored, changed)
	}
	same := must(s.of(w).Modify(w.Context(), changed, func(T) {}))(w)
	if same.GetResourceVersion() != changed.GetResourceVersion() {
		w.Errorf("nothing made of version %s version %s", changed.GetResourceVersion(), same.GetResourceVersion())
	}
}

func (s subject[T]) changesStatus(w *world) {
	made := s.made(w, "a")
	next := made.DeepCopyObject().(T)
	s.done(next)
	s.edit(next)
	written := must(s.of(w).UpdateStatus(w.Context(), next))(w)
	if !s.isDone(written) || s.edited(written) {
		w.Errorf("the new status made %+v", written)
	}
	if _, err := s.of(w).UpdateStatus(w.Context(), next); !apierrors.IsConflict(err) {
		w.Errorf("from an old version: %v, want Conflict", err)
	}
	other := s.made(w, "b")
	modified := must(s.of(w).ModifyStatus(w.Context(), other, s.done))(w)
	if !s.isDone(modified) {
		w.Errorf("the changed status made %+v", modified)
	}
	same := must(s.of(w).ModifyStatus(w.Context(), modified, func(o T) { s.edit(o) }))(w)
	if s.edited(same) || same.GetResourceVersion() != modified.GetResourceVersion() {
		w.Errorf("ModifyStatus changed the main part: %+v", same)
	}
	s.remove(w, modified)
	if _, err := s.of(w).UpdateStatus(w.Context(), modified); !apierrors.IsNotFound(err) {
		w.Errorf("the status of what is gone: %v, want NotFound", err)
	}
}

// merges lets two writers change one object, both starting from the same version.
func (s subject[T]) merges(w *world) {
	made := s.made(w, "a", func(o T) {
		o.SetFinalizers([]string{"example.com/a", "example.com/b"})
		o.SetOwnerReferences([]metav1.OwnerReference{owner("1"), owner("2")})
		o.SetLabels(map[string]string{"a": "1", "b": "2"})
	})
	must(s.of(w).Modify(w.Context(), made, func(o T) { drop(o, "a", "1"); add(o, "c", "3") }))(w)
	both := must(s.of(w).Modify(w.Context(), made, func(o T) { drop(o, "b", "2"); add(o, "d", "4") }))(w)
	w.hasEntries(both, entries{[]string{"example.com/c", "example.com/d"}, []string{"3", "4"}, []string{"c", "d"}})
}

func (s subject[T]) empties(w *world) {
	made := s.made(w, "a", func(o T) { add(o, "a", "1") })
	must(s.of(w).Modify(w.Context(), made, func(o T) { add(o, "b", "2") }))(w)
	left := must(s.of(w).Modify(w.Context(), made, func(o T) { drop(o, "a", "1") }))(w)
	w.hasEntries(left, entries{[]string{"example.com/b"}, []string{"2"}, []string{"b"}})
}

func (s subject[T]) modifiesOne(w *world) {
	old := s.made(w, "a")
	s.remove(w, old)
	for _, what := range []string{"gone", "another one"} {
		if _, err := s.of(w).Modify(w.Context(), old, s.edit); !apierrors.IsNotFound(err) {
			w.Errorf("%s: %v, want NotFound", what, err)
		}
		if s.done != nil {
			if _, err := s.of(w).ModifyStatus(w.Context(), old, s.done); !apierrors.IsNotFound(err) {
				w.Errorf("status, %s: %v, want NotFound", what, err)
			}
		}
		if what == "gone" {
			s.made(w, "a")
		}
	}
	if other := must(s.of(w).Get(w.Context(), w.namespace, "a"))(w); s.edited(other) || s.done != nil && s.isDone(other) {
		w.Errorf("the other one was changed: %+v", other)
	}
}

func (s subject[T]) deletes(w *world) {
	old := s.made(w, "a")
	s.remove(w, old)
	if err := s.of(w).Delete(w.Context(), old, client.DeleteOptions{}); !apierrors.IsNotFound(err) {
		w.Errorf("gone: %v, want NotFound", err)
	}
	shown := s.made(w, "a")
	if err := s.of(w).Delete(w.Context(), old, client.DeleteOptions{}); !apierrors.IsConflict(err) {
		w.Errorf("another one: %v, want Conflict", err)
	}
	must(s.of(w).Modify(w.Context(), shown, func(o T) { add(o, "x", "y") }))(w)
	if err := s.of(w).Delete(w.Context(), shown, client.DeleteOptions{Unchanged: true}); !apierrors.IsConflict(err) {
		w.Errorf("as it was: %v, want Conflict", err)
	}
}

func (s subject[T]) shows(w *world) {
	informer := s.of(w).Informer()
	if s.of(w).Informer() != informer {
		w.Error("two informers")
	}
	shown := func() (out T) {
		obj, found, err := informer.GetStore().GetByKey(w.namespace + "/a")
		if err == nil && found {
			out = obj.(T)
		}
		return out
	}
	var none T
	made := s.made(w, "a")
	w.start(w.Context())
	await.Until(w, "that the informer shows what is there", func() bool { return any(shown()) != any(none) })
	// A controller starts from what its informer has cached, and from nothing else.
	must(s.of(w).Modify(w.Context(), shown(), func(o T) {
		s.edit(o)
		o.SetLabels(map[string]string{"x": "y"})
	}))(w)
	if stored := must(s.of(w).Get(w.Context(), w.namespace, "a"))(w); !s.edited(stored) {
		w.Errorf("the change of what is shown made %+v", stored)
	}
	await.Until(w, "that the informer shows the change", func() bool { return shown().GetLabels()["x"] == "y" })
	if indexed := must(informer.GetIndexer().ByIndex(cache.NamespaceIndex, w.namespace))(w); len(indexed) != 1 {
		w.Errorf("by namespace: %d objects", len(indexed))
	}
	s.remove(w, made)
	await.Until(w, "that the informer drops what is deleted", func() bool { return any(shown()) == any(none) })
}
