package apiserver_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	nodeclient "k8s.io/client-go/kubernetes/typed/node/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver"
	"github.com/stint-dev/stint/internal/apiserver/apiservertest"
	jobcore "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// withNode makes the server validate pods for a node that cannot run images.
func withNode(c *apiserver.Config) {
	c.Registry.Node = func() runtime.Info {
		return runtime.Info{Name: runtime.ClassProcess, CanMount: true, WhyNoImages: "the reason"}
	}
}

func handlersOf(t *testing.T, classes nodeclient.RuntimeClassInterface) map[string]string {
	t.Helper()
	handlers := map[string]string{}
	for _, class := range must[*nodev1.RuntimeClassList](t)(classes.List(t.Context(), metav1.ListOptions{})).Items {
		handlers[class.Name] = class.Handler
	}
	return handlers
}

func TestTheUsualRuntimeClassesAreAlwaysThere(t *testing.T) {
	dir := t.TempDir()
	usual := map[string]string{"oci": "oci", "process": "process"}
	s := apiservertest.Start(t, apiservertest.In(dir))
	classes := s.Clientset().NodeV1().RuntimeClasses()
	if diff := cmp.Diff(usual, handlersOf(t, classes)); diff != "" {
		t.Errorf("from the start (-want +got):\n%s", diff)
	}
	before := must[*nodev1.RuntimeClass](t)(classes.Get(t.Context(), "oci", metav1.GetOptions{}))
	if err := classes.Delete(t.Context(), "oci", metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Error(err)
	}
	if err := classes.Delete(t.Context(), "oci", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	after := must[*nodev1.RuntimeClass](t)(classes.Get(t.Context(), "oci", metav1.GetOptions{}))
	if after.UID == before.UID {
		t.Error("the class was not deleted")
	}
	s.Stop()
	classes = apiservertest.Start(t, apiservertest.In(dir)).Clientset().NodeV1().RuntimeClasses()
	if diff := cmp.Diff(usual, handlersOf(t, classes)); diff != "" {
		t.Errorf("after another start (-want +got):\n%s", diff)
	}
	if again := must[*nodev1.RuntimeClass](t)(classes.Get(t.Context(), "oci", metav1.GetOptions{})); again.UID != after.UID {
		t.Error("the next start made another class")
	}
}

func TestPodsRunAsTheirRuntimeClassSays(t *testing.T) {
	s := apiservertest.Start(t, withNode)
	c := s.Clientset()
	classes, pods := c.NodeV1().RuntimeClasses(), c.CoreV1().Pods("default")
	create := func(name, class string) (*corev1.Pod, error) {
		p := pod(name)
		p.Spec.RuntimeClassName = &class
		return pods.Create(t.Context(), p, metav1.CreateOptions{})
	}
	_, err := create("early", "mine")
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `pod rejected: RuntimeClass "mine" not found`) {
		t.Errorf("a class that is not there: %v", err)
	}
	mine := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Handler: "process", Scheduling: &nodev1.Scheduling{
		Tolerations: []corev1.Toleration{{Key: "k", Operator: corev1.TolerationOpExists}}}}
	must[*nodev1.RuntimeClass](t)(classes.Create(t.Context(), mine, metav1.CreateOptions{}))
	made := must[*corev1.Pod](t)(create("a", "mine"))
	if made.Annotations[runtime.HandlerAnnotation] != "process" || *made.Spec.RuntimeClassName != "mine" || made.Spec.Tolerations[0].Key != "k" {
		t.Errorf("made: %v, %+v", made.Annotations, made.Spec)
	}
	if err := classes.Delete(t.Context(), "mine", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	must[*nodev1.RuntimeClass](t)(classes.Create(t.Context(), &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Handler: "oci"}, metav1.CreateOptions{}))
	if kept := must[*corev1.Pod](t)(pods.Get(t.Context(), "a", metav1.GetOptions{})); runtime.HandlerOf(kept) != "process" {
		t.Errorf("another class of the name has the pod run by %s", runtime.HandlerOf(kept))
	}
	_, err = create("b", "mine")
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "images cannot be run here: the reason") {
		t.Errorf("a handler that cannot run here: %v", err)
	}
	_, err = create("c", "No_Name")
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.runtimeClassName") {
		t.Errorf("a name that none can have: %v", err)
	}
}

// The class that the server chooses is applied like any other, with its scheduling.
func TestTheRuntimeClassOfTheServerIsWrittenIntoPods(t *testing.T) {
	s := apiservertest.Start(t, func(c *apiserver.Config) {
		c.Registry.Node = func() runtime.Info { return runtime.Info{CanRunImages: true, CanMount: true} }
		c.Registry.RuntimeClass = runtime.ClassOCI
	})
	c := s.Clientset()
	must[*nodev1.RuntimeClass](t)(c.NodeV1().RuntimeClasses().Patch(t.Context(), "oci", types.MergePatchType,
		[]byte(`{"scheduling":{"nodeSelector":{"a":"b"}}}`), metav1.PatchOptions{}))
	made := must[*corev1.Pod](t)(s.Server.Client().Pods().Create(t.Context(), pod("p")))
	if ptr.Deref(made.Spec.RuntimeClassName, "") != runtime.ClassOCI || runtime.HandlerOf(made) != runtime.ClassOCI {
		t.Errorf("made: %v, %+v", made.Annotations, made.Spec)
	}
}

// A Job that one server has begun is run to its end in the same way by another one with another class.
func TestPodsOfAJobKeepTheRuntimeClassOfItsServer(t *testing.T) {
	s := apiservertest.Start(t, func(c *apiserver.Config) {
		c.Registry.Node = func() runtime.Info { return runtime.Info{CanRunImages: true, CanMount: true} }
		c.Registry.RuntimeClass = runtime.ClassOCI
	})
	jobs := s.Clientset().BatchV1().Jobs("default")
	if made := must[*batchv1.Job](t)(jobs.Create(t.Context(), job("a"), metav1.CreateOptions{})); made.Annotations[jobcore.RuntimeClass] != runtime.ClassOCI {
		t.Errorf("a new Job: %v", made.Annotations)
	}
	exported := job("exported")
	exported.Annotations = map[string]string{jobcore.RuntimeClass: runtime.ClassProcess}
	if made := must[*batchv1.Job](t)(jobs.Create(t.Context(), exported, metav1.CreateOptions{})); made.Annotations[jobcore.RuntimeClass] != runtime.ClassOCI {
		t.Errorf("a Job that was exported from a server with another class: %v", made.Annotations)
	}
	chosen := job("b")
	chosen.Spec.Template.Spec.RuntimeClassName = ptr.To(runtime.ClassProcess)
	if made := must[*batchv1.Job](t)(jobs.Create(t.Context(), chosen, metav1.CreateOptions{})); made.Annotations[jobcore.RuntimeClass] != "" {
		t.Errorf("a Job with a class of its own: %v", made.Annotations)
	}
	begun := pod("p")
	begun.Annotations = map[string]string{jobcore.RuntimeClass: runtime.ClassProcess}
	made := must[*corev1.Pod](t)(s.Server.Client().Pods().Create(t.Context(), begun))
	if ptr.Deref(made.Spec.RuntimeClassName, "") != runtime.ClassProcess {
		t.Errorf("a pod of a Job from a server with another class: %+v", made.Spec)
	}
}

// A Job may ask for fewer processes than its server allows. Another server keeps to what the Job began with.
func TestAJobHasTheProcessLimitOfItsServer(t *testing.T) {
	for limit, want := range map[int64]map[string]string{
		4096: {"": "4096", "100": "100", "4096": "4096", "4097": "4096", "-1": "4096"},
		-1:   {"": "-1", "100": "100", "-1": "-1"},
	} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			s := apiservertest.Start(t, func(c *apiserver.Config) {
				c.Registry.Node = func() runtime.Info { return runtime.Info{} }
				c.Registry.PodMaxPIDs = limit
			})
			jobs := s.Clientset().BatchV1().Jobs("default")
			for own, want := range want {
				j := job("a" + own)
				j.Annotations = map[string]string{"other": "kept"}
				if own != "" {
					j.Annotations[jobcore.PodMaxPIDs] = own
				}
				if made := must[*batchv1.Job](t)(jobs.Create(t.Context(), j, metav1.CreateOptions{})); made.Annotations[jobcore.PodMaxPIDs] != want {
					t.Errorf("a Job that asks for %q has %v", own, made.Annotations)
				}
			}
			wrong := job("wrong")
			wrong.Annotations = map[string]string{jobcore.PodMaxPIDs: "many"}
			_, err := jobs.Create(t.Context(), wrong, metav1.CreateOptions{})
			if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.annotations[stint.dev/pod-max-pids]") {
				t.Errorf("many: %v", err)
			}
		})
	}
}

// A Job that was stored before, or by another server, keeps its limit until someone changes that.
func TestNoChangeGivesAJobMoreProcessesThanItsServerAllows(t *testing.T) {
	s := apiservertest.Start(t, func(c *apiserver.Config) {
		c.Registry.Node = func() runtime.Info { return runtime.Info{} }
		c.Registry.PodMaxPIDs = 100
	})
	jobs := s.Clientset().BatchV1().Jobs("default")
	must[*batchv1.Job](t)(jobs.Create(t.Context(), job("a"), metav1.CreateOptions{}))
	for patch, want := range map[string]string{`"101"`: "100", `"-1"`: "100", `"50"`: "50", `null`: "100"} {
		text := fmt.Sprintf(`{"metadata":{"annotations":{%q:%s}}}`, jobcore.PodMaxPIDs, patch)
		changed := must[*batchv1.Job](t)(jobs.Patch(t.Context(), "a", types.MergePatchType, []byte(text), metav1.PatchOptions{}))
		if got := changed.Annotations[jobcore.PodMaxPIDs]; got != want {
			t.Errorf("changed to %s it is %q", patch, got)
		}
	}
}

func TestJobsMayComeBeforeTheirRuntimeClass(t *testing.T) {
	c := apiservertest.Start(t, withNode).Clientset()
	asking := func(name, class string) *batchv1.Job {
		j := job(name)
		j.Spec.Template.Spec.RuntimeClassName = &class
		return j
	}
	must[*batchv1.Job](t)(c.BatchV1().Jobs("default").Create(t.Context(), asking("early", "mine"), metav1.CreateOptions{}))
	must[*nodev1.RuntimeClass](t)(c.NodeV1().RuntimeClasses().Create(t.Context(),
		&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Handler: "oci"}, metav1.CreateOptions{}))
	_, err := c.BatchV1().Jobs("default").Create(t.Context(), asking("late", "mine"), metav1.CreateOptions{})
	if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.template.spec.runtimeClassName") {
		t.Errorf("pods that could not run: %v", err)
	}
}

func TestRuntimeClassesAreWatched(t *testing.T) {
	classes := apiservertest.Start(t).Clientset().NodeV1().RuntimeClasses()
	list := must[*nodev1.RuntimeClassList](t)(classes.List(t.Context(), metav1.ListOptions{}))
	w := must[watch.Interface](t)(classes.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion}))
	defer w.Stop()
	must[*nodev1.RuntimeClass](t)(classes.Create(t.Context(), &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, Handler: "oci"}, metav1.CreateOptions{}))
	if e := <-w.ResultChan(); e.Type != watch.Added || e.Object.(*nodev1.RuntimeClass).Name != "mine" {
		t.Errorf("seen %s %v", e.Type, e.Object)
	}
}

func TestKubectlWorksWithRuntimeClasses(t *testing.T) {
	runKubectl(t, start(t), []kubectlStep{
		{does: "they are listed", args: "get runtimeclass", want: "HANDLER"},
		{does: "one is applied", args: "apply -f mine.yaml", want: "runtimeclass.node.k8s.io/mine created"},
		{does: "applied again it changes nothing", args: "apply -f mine.yaml", want: "unchanged"},
		{does: "its handler stays", args: `patch runtimeclass mine -p {"handler":"process"}`, want: "field is immutable", fails: true},
		{does: "it is explained", args: "explain runtimeclass.handler", want: "FIELD: handler <string>"},
		{does: "a pod asks for it", args: `run p --image=busybox --restart=Never --overrides={"spec":{"runtimeClassName":"mine"}}`, want: "pod/p created"},
		{does: "and for one that is not there", args: `run q --image=busybox --restart=Never --overrides={"spec":{"runtimeClassName":"none"}}`,
			want: `pod rejected: RuntimeClass "none" not found`, fails: true},
		{does: "it is deleted", args: "delete runtimeclass mine --timeout=5m", want: "deleted"},
		{does: "the usual ones come back", args: "delete runtimeclass oci process --timeout=5m", want: "deleted"},
		{does: "at once", args: "get runtimeclass -o name", want: "runtimeclass.node.k8s.io/oci\nruntimeclass.node.k8s.io/process\n"},
	}, map[string]string{"mine.yaml": "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: mine}\nhandler: oci\n"})
}
