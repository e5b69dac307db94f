package apiservertest_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	"github.com/stint-dev/stint/test/await"
)

func TestMain(m *testing.M) { apiservertest.Main(m) }

func TestATestThatSharesAServerSeesItsOwnObjectsAndThoseInNoNamespace(t *testing.T) {
	earlier, later := apiservertest.Shared(t), apiservertest.Shared(t)
	if earlier.Server != later.Server || earlier.Namespace == later.Namespace {
		t.Fatalf("two servers, or one namespace: %s and %s", earlier.Namespace, later.Namespace)
	}
	put(t, earlier, "listed")
	put(t, later, "listed")
	nodes := later.Client().Nodes().Informer()
	later.Control(idle{})
	maps := later.Client().ConfigMaps().Informer()
	later.Control(idle{})
	put(t, earlier, "watched")
	put(t, later, "watched")
	node, err := earlier.Client().Nodes().Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}})
	if err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the node to be shown", func() bool { return slices.Contains(nodes.GetStore().ListKeys(), node.Name) })
	want := []string{later.Namespace + "/listed", later.Namespace + "/watched"}
	await.Until(t, "what was made in this namespace", func() bool { return len(maps.GetStore().ListKeys()) >= len(want) })
	if got := slices.Sorted(slices.Values(maps.GetStore().ListKeys())); !slices.Equal(got, want) {
		t.Errorf("the informer shows %q, want %q", got, want)
	}
}

// idle is a controller that does nothing.
type idle struct{}

func (idle) Run(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func put(t *testing.T, s *apiservertest.Server, name string) {
	t.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.Namespace}}
	if _, err := s.Client().ConfigMaps().Create(t.Context(), cm); err != nil {
		t.Fatal(err)
	}
}
