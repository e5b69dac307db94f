package loop_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/controller/loop"
	"github.com/stint-dev/stint/test/wrappers"
)

const parentUID types.UID = "parent"

type pods = loop.Children[*corev1.Pod]

// child returns a version of the pod "p".
func child(version string, changes ...func(*corev1.Pod)) *corev1.Pod {
	return wrappers.MakePod("p").UID("p").ResourceVersion(version).Controller(wrappers.MakeJob("j").Namespace("ns").UID(parentUID).Obj()).
		With(changes...).Obj()
}

func ended(p *corev1.Pod)    { p.Status.Phase = corev1.PodSucceeded }
func deleting(p *corev1.Pod) { p.DeletionTimestamp = ptr.To(metav1.Now()) }

// unended drops succeeded pods, and a newer version does not change a phase that is set.
var unended = loop.Rules[*corev1.Pod]{
	Kind: "Pod",
	Keep: func(_ types.UID, p *corev1.Pod) bool { return p.Status.Phase != corev1.PodSucceeded },
	Merge: func(known, newer *corev1.Pod) *corev1.Pod {
		if known.Status.Phase == "" {
			return newer
		}
		newer = newer.DeepCopy()
		newer.Status.Phase = known.Status.Phase
		return newer
	},
}

func TestTheNewerOfWhatIsShownAndAnsweredIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		do func(*pods)
		// known is the version, empty for none.
		known   string
		deleted bool
	}{
		"an answer is known before it is shown": {do: func(c *pods) { c.ObserveWrite(parentUID, child("1")) }, known: "1"},
		"what is shown replaces an older answer": {do: func(c *pods) {
			c.ObserveWrite(parentUID, child("1"))
			c.ObserveCached(parentUID, child("2"))
		}, known: "2"},
		"what is shown late changes nothing": {do: func(c *pods) {
			c.ObserveWrite(parentUID, child("10"))
			c.ObserveCached(parentUID, child("9"))
		}, known: "10"},
		"an answer that comes late changes nothing": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("10"))
			c.ObserveWrite(parentUID, child("9"))
		}, known: "10"},
		"a child that is not needed any more is dropped": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.ObserveCached(parentUID, child("2", ended))
		}},
		"an answer hides it at once, and news from before do not bring it back": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.ObserveWrite(parentUID, child("3", ended))
			c.ObserveCached(parentUID, child("2"))
		}},
		"a deletion is known until it is shown": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.Deleted("p")
			c.ObserveCached(parentUID, child("2"))
		}, known: "2", deleted: true},
		"and then the child shows it": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.Deleted("p")
			c.ObserveCached(parentUID, child("2", deleting))
		}, known: "2"},
		"a child that has gone before its creation is answered stays gone": {do: func(c *pods) {
			c.ObserveDeletion(parentUID, child("2"))
			c.ObserveWrite(parentUID, child("1"))
		}},
		"a child that was dropped before its last write is answered stays dropped": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.ObserveCached(parentUID, child("3", ended))
			c.ObserveWrite(parentUID, child("2"))
		}},
		"a child that the server does not have is gone, whatever is shown late": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.Gone("p")
			c.ObserveCached(parentUID, child("2"))
		}},
		"a child of another parent by now is dropped": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.ObserveCached("another", child("2"))
		}},
		"and stays dropped when its last write is answered": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.ObserveCached("another", child("3"))
			c.ObserveWrite(parentUID, child("2"))
		}},
		"a child that has no parent any more stays dropped": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1"))
			c.ObserveDeletion("", child("2"))
			c.ObserveWrite(parentUID, child("2"))
		}},
		"a child that is needed again is known, and its writes are": {do: func(c *pods) {
			c.ObserveCached(parentUID, child("1", ended))
			c.ObserveCached(parentUID, child("2"))
			c.ObserveWrite(parentUID, child("3"))
		}, known: "3"},
		"an answer after the parent was forgotten is not kept": {do: func(c *pods) {
			c.Forget(parentUID)
			c.ObserveWrite(parentUID, child("1"))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			children := loop.NewChildren(unended, nil)
			children.Open(parentUID)
			c.do(children)
			known, deleted := "", false
			for _, child := range children.Of(parentUID) {
				known, deleted = known+child.Newest.ResourceVersion, child.Deleted
			}
			if known != c.known || deleted != c.deleted {
				t.Errorf("version %q is known, deleted %t; want %q, %t", known, deleted, c.known, c.deleted)
			}
		})
	}
}

func TestOnlyNewsOfChildrenIsNews(t *testing.T) {
	children := loop.NewChildren(loop.Rules[*corev1.Pod]{}, nil)
	children.Open(parentUID)
	children.Expect(parentUID, "p")
	show := func(parent types.UID, p *corev1.Pod) bool {
		_, news := children.ObserveCached(parent, p)
		return news
	}
	for _, step := range []struct {
		what string
		news bool
		got  bool
	}{
		{"a child is shown whose creation is under way", false, show(parentUID, child("1"))},
		{"it changes", true, show(parentUID, child("2"))},
		{"it is shown again", false, show(parentUID, child("2"))},
		{"a child of another is shown", true, show("another", child("1", func(p *corev1.Pod) { p.UID, p.Name = "q", "q" }))},
		{"it ends", true, children.ObserveDeletion(parentUID, child("3"))},
	} {
		if step.got != step.news {
			t.Errorf("%s: news is %t", step.what, step.got)
		}
	}
	children.Close(parentUID)
	if children.ObserveDeletion(parentUID, child("3")) {
		t.Error("the end of a child that is not known is news")
	}
}

// stored is a server that has these pods. It keeps the names that are read.
type stored struct {
	client.Resource[*corev1.Pod]
	pods  []*corev1.Pod
	err   error
	asked []string
}

func (s *stored) Get(_ context.Context, _, name string) (*corev1.Pod, error) {
	s.asked = append(s.asked, name)
	for _, p := range s.pods {
		if p.Name == name && s.err == nil {
			return p, nil
		}
	}
	return nil, cmp.Or(s.err, error(apierrors.NewNotFound(corev1.Resource("pods"), name)))
}

func TestTheServerIsAskedForChildrenOfWhichTooLittleIsKnown(t *testing.T) {
	job := wrappers.MakeJob("j").Namespace("ns").UID(parentUID).Obj()
	another := func(p *corev1.Pod) { p.OwnerReferences[0].UID = "another" }
	for name, c := range map[string]struct {
		do     func(*pods)
		listed map[string]types.UID
		stored []*corev1.Pod
		asked  []string
		known  string
	}{
		"one that is shown is known":                          {do: func(c *pods) { c.ObserveCached(parentUID, child("1")) }, listed: map[string]types.UID{"p": "p"}, known: "1"},
		"one that was answered is believed":                   {do: func(c *pods) { c.ObserveWrite(parentUID, child("1")) }, listed: map[string]types.UID{"p": ""}, known: "1"},
		"one that is not shown for long is asked for":         {do: func(c *pods) { c.ObserveWrite(parentUID, child("1")); time.Sleep(time.Minute) }, stored: []*corev1.Pod{child("2")}, asked: []string{"p"}, known: "2"},
		"and is gone if the server does not have it":          {do: func(c *pods) { c.ObserveWrite(parentUID, child("1")); time.Sleep(time.Minute) }, asked: []string{"p"}},
		"one that may have been created is asked for":         {do: func(c *pods) { c.Expect(parentUID, "p") }, stored: []*corev1.Pod{child("2")}, asked: []string{"p"}, known: "2"},
		"one that was refused is not":                         {do: func(c *pods) { c.Expect(parentUID, "p"); c.Refused(parentUID, "p") }},
		"one that the status lists is asked for":              {do: func(*pods) {}, listed: map[string]types.UID{"p": "p"}, stored: []*corev1.Pod{child("2")}, asked: []string{"p"}, known: "2"},
		"another's child does not count":                      {do: func(*pods) {}, listed: map[string]types.UID{"p": ""}, stored: []*corev1.Pod{child("2", another)}, asked: []string{"p"}},
		"one in the place of the one listed is another child": {do: func(*pods) {}, listed: map[string]types.UID{"p": "before"}, stored: []*corev1.Pod{child("2")}, asked: []string{"p"}, known: "2"},
		"one whose end was shown meanwhile is not asked for":  {do: func(c *pods) { c.ObserveDeletion(parentUID, child("1")) }, listed: map[string]types.UID{"p": "p"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				children, server := loop.NewChildren(loop.Rules[*corev1.Pod]{Kind: "Pod"}, nil), &stored{pods: c.stored}
				children.Open(parentUID)
				c.do(children)
				if err := children.Confirm(t.Context(), job, server, c.listed); err != nil {
					t.Fatal(err)
				}
				known := ""
				for _, child := range children.Of(parentUID) {
					known += child.Newest.ResourceVersion
				}
				if !slices.Equal(c.asked, server.asked) || known != c.known {
					t.Errorf("version %q is known, want %q; asked for %q, want %q", known, c.known, server.asked, c.asked)
				}
			})
		})
	}
}

func TestAnOutcomeThatIsNotKnownStaysSoUntilTheServerHasAnswered(t *testing.T) {
	job := wrappers.MakeJob("j").Namespace("ns").UID(parentUID).Obj()
	children, server := loop.NewChildren(loop.Rules[*corev1.Pod]{Kind: "Pod"}, nil), &stored{pods: []*corev1.Pod{child("1")}}
	children.Open(parentUID)
	children.Expect(parentUID, "p")
	children.Close(parentUID)
	children.Open(parentUID)
	server.err = errors.New("no answer")
	if err := children.Confirm(t.Context(), job, server, nil); err == nil || err.Error() != "asking for Pod ns/p: no answer" {
		t.Errorf("the error is %v", err)
	}
	server.err = nil
	for range 2 {
		if err := children.Confirm(t.Context(), job, server, nil); err != nil || len(children.Of(parentUID)) != 1 {
			t.Errorf("it is not known: %v", err)
		}
	}
	if len(server.asked) != 2 {
		t.Errorf("the server was asked %d times", len(server.asked))
	}
}

func TestAChildIsAwaitedUntilItIsShownOrGone(t *testing.T) {
	for name, end := range map[string]func(*pods){
		"shown": func(c *pods) { c.ObserveCached(parentUID, child("1")) },
		"gone":  func(c *pods) { c.Gone("p") },
	} {
		t.Run(name, func(t *testing.T) {
			children := loop.NewChildren(loop.Rules[*corev1.Pod]{}, nil)
			children.Open(parentUID)
			children.ObserveWrite(parentUID, child("1"))
			if !children.Close(parentUID) {
				t.Error("a child that was never shown is not asked for")
			}
			children.Open(parentUID)
			if end(children); children.Close(parentUID) {
				t.Error("it is awaited still")
			}
		})
	}
}

// The informer is often faster than the answer to the write that it shows.
func TestAChildIsNotAwaitedThatWasCachedAndIsNotNeeded(t *testing.T) {
	for name, cached := range map[string][]*corev1.Pod{
		"known before": {child("1"), child("2", ended)},
		"created":      {child("2", ended)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				children := loop.NewChildren(unended, nil)
				children.Open(parentUID)
				for _, p := range cached {
					children.ObserveCached(parentUID, p)
				}
				children.ObserveWrite(parentUID, child("2", ended))
				if children.Close(parentUID) {
					t.Error("the informer shows it, and it is awaited")
				}
				time.Sleep(time.Minute)
				if overdue := children.Overdue(parentUID); len(overdue) > 0 {
					t.Error("the server is asked for it")
				}
				if children.Size() != 0 {
					t.Error("something is kept of it")
				}
			})
		})
	}
}

func TestChildrenDoNotGrowWithHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		children := loop.NewChildren(unended, nil)
		before := children.Size()
		for i := range 10_000 {
			named := func(p *corev1.Pod) { p.UID = types.UID(time.Duration(i).String()) }
			children.Open(parentUID)
			children.ObserveWrite(parentUID, child("1", named))
			switch i % 3 {
			case 0: // It is shown, and succeeds.
				children.ObserveCached(parentUID, child("1", named))
				children.ObserveCached(parentUID, child("2", named, ended))
			case 1: // It is shown, and deleted.
				children.ObserveCached(parentUID, child("1", named))
				children.Deleted(child("1", named).UID)
				children.ObserveDeletion(parentUID, child("1", named))
			case 2: // It is never cached.
				children.Gone(child("1", named).UID)
			}
			children.Close(parentUID)
		}
		time.Sleep(time.Hour)
		children.Of(parentUID)
		if after := children.Size(); after != before {
			t.Errorf("%d things are kept of children that are no more", after)
		}
	})
}

func TestNothingIsKeptOfAParentThatIsForgottenDuringItsSync(t *testing.T) {
	job := wrappers.MakeJob("j").Namespace("ns").UID(parentUID).Obj()
	children, server := loop.NewChildren(loop.Rules[*corev1.Pod]{Kind: "Pod"}, nil), &stored{pods: []*corev1.Pod{child("1")}}
	children.Open(parentUID)
	children.Expect(parentUID, "p")
	children.Forget(parentUID)
	children.Expect(parentUID, "q")
	if err := children.Confirm(t.Context(), job, server, map[string]types.UID{"r": "r"}); err != nil {
		t.Fatal(err)
	}
	children.ObserveWrite(parentUID, child("1"))
	children.Refused(parentUID, "q")
	children.Close(parentUID)
	if children.Size() != 0 {
		t.Error("something is kept")
	}
}
