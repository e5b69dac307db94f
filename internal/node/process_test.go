package node_test

import (
	"io"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

func TestMain(m *testing.M) {
	if handled, code := process.HostMain(os.Args); handled {
		os.Exit(code)
	}
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// processes is a runtime that starts real processes.
func processes(t testing.TB, dir string) runtime.Runtime {
	t.Helper()
	r, err := process.Start(t.Context(), process.Config{Dir: dir, IdleExit: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	leave := func() {
		if closed {
			return
		}
		closed = true
		if err := r.Close(); err != nil {
			t.Errorf("close the runtime: %v", err)
		}
	}
	t.Cleanup(leave)
	return &leaving{Runtime: r, leave: leave}
}

// leaving is a runtime that a test may close before its end.
type leaving struct {
	runtime.Runtime
	leave func()
}

func TestRealProcessesOutliveTheNode(t *testing.T) {
	dir := t.TempDir()
	first := processes(t, dir)
	h := newTestNode(t, first)
	h.startNode(nil)
	gate, alone := filepath.Join(t.TempDir(), "gate"), filepath.Join(t.TempDir(), "alone")
	wait := func(file string) string { return "until test -e " + file + "; do sleep 0.02; done; " }
	stays := h.create(build("stays", shell(wait(gate)+"echo out; exit 4"), nil))
	ends := h.create(build("ends", shell("echo run >> "+gate+".ends; "+wait(alone)+"exit 5"), nil))
	for _, p := range []*corev1.Pod{stays, ends} {
		h.untilSeen(h.until(p, "the pod runs", inPhase(corev1.PodRunning)))
	}
	h.stopNode()
	first.(*leaving).leave()
	if err := os.WriteFile(alone, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	second := processes(t, dir)
	h.eventually("the short one ends alone", func() bool {
		list, err := second.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.PodUID == ends.UID && s.State == runtime.Exited {
				return true
			}
		}
		return false
	}, func() any { return nil })
	h.rt = second
	h.startNode(nil)
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for pod, code := range map[*corev1.Pod]int32{stays: 4, ends: 5} {
		failed := h.until(pod, "its end is told", inPhase(corev1.PodFailed))
		s := failed.Status.ContainerStatuses[0]
		if s.RestartCount != 0 || s.State.Terminated.ExitCode != code || condition(failed, corev1.DisruptionTarget).Status != "" {
			t.Errorf("%s: %+v", pod.Name, s)
		}
	}
	if runs, err := os.ReadFile(gate + ".ends"); err != nil || string(runs) != "run\n" {
		t.Errorf("the short one ran %q, %v", runs, err)
	}
	if got := h.logOf(h.until(stays, "it is there", inPhase(corev1.PodFailed))); got != "out\n" {
		t.Errorf("log %q", got)
	}
}

func shell(script string) []string { return []string{"/bin/sh", "-c", script} }

func (h *testNode) logOf(pod *corev1.Pod) string {
	h.t.Helper()
	return readLog(h.t, h.node.Logs, pod)
}

func readLog(t testing.TB, from *podlogs.Store, pod *corev1.Pod) string {
	t.Helper()
	r, err := from.PodLogs(t.Context(), pod, &corev1.PodLogOptions{Container: "main", Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestAContainerOfAnotherUserHasThatUsersHomeAndTheDefaultPath(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can start containers of other users")
	}
	const uid = 65534
	home := "/"
	if account, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		home = account.HomeDir
	}
	rt := processes(t, t.TempDir())
	if !rt.Info().CanSetUser {
		t.Skip("no other users here")
	}
	t.Setenv("PATH", t.TempDir()+":"+os.Getenv("PATH"))
	h := newTestNode(t, rt)
	h.startNode(nil)
	pod := h.create(build("other", shell(`echo "$HOME|$PATH|$TMPDIR|$(id -u)"; exit 3`), func(p *corev1.Pod) {
		p.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To(int64(uid))}
		p.Spec.Containers[0].TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}))
	failed := h.until(pod, "the pod fails", inPhase(corev1.PodFailed))
	want := home + "|/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin||65534\n"
	if got := failed.Status.ContainerStatuses[0].State.Terminated.Message; got != want {
		t.Errorf("the container saw %q, want %q", got, want)
	}
}

func TestEnvironmentOfRealProcesses(t *testing.T) {
	h := newTestNode(t, processes(t, t.TempDir()))
	h.startNode(nil)
	if _, err := h.client.Secrets().Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "keys", Namespace: "default"}, Data: map[string][]byte{"token": []byte("s3cret")},
	}); err != nil {
		t.Fatal(err)
	}
	pod := h.create(build("talks", shell(`echo "$GREETING|$NAME|$K_token|$CPU|$1|${PATH:+path}|$HOSTNAME"; echo end; exit 3`), func(p *corev1.Pod) {
		c := &p.Spec.Containers[0]
		c.Command = append(c.Command, "sh", "$(NAME)-$(NOPE)-$$(NAME)")
		c.Env = []corev1.EnvVar{
			{Name: "NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "GREETING", Value: "hello $(NAME)"},
			{Name: "CPU", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "requests.cpu"}}},
		}
		c.Resources.Requests = quantities("cpu", "100m")
		c.EnvFrom = []corev1.EnvFromSource{{Prefix: "K_", SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "keys"}}}}
		c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	}))
	failed := h.until(pod, "the pod fails", inPhase(corev1.PodFailed))
	ended := failed.Status.ContainerStatuses[0].State.Terminated
	want := "hello talks|talks|s3cret|1|talks-$(NOPE)-$(NAME)|path|talks\nend\n"
	if ended.ExitCode != 3 || ended.Reason != "Error" || ended.Message != want {
		t.Errorf("ended as %+v, want message %q", ended, want)
	}
	if got := h.logOf(failed); got != want {
		t.Errorf("log %q, want %q", got, want)
	}
}

func TestVolumesAndOrderOfRealProcesses(t *testing.T) {
	rt := processes(t, t.TempDir())
	if !rt.Info().CanMount {
		t.Skip("no volumes here: " + rt.Info().WhyNoMount)
	}
	h := newTestNode(t, rt)
	h.startNode(nil)
	settings, err := h.client.ConfigMaps().Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "default"}, Data: map[string]string{"colour": "blue"},
	})
	if err != nil {
		t.Fatal(err)
	}
	always := corev1.ContainerRestartPolicyAlways
	mounts := []corev1.VolumeMount{{Name: "work", MountPath: "/stint-work"}, {Name: "settings", MountPath: "/stint-settings", ReadOnly: true}}
	pod := h.create(build("ordered", shell(`until [ "$(cat /stint-settings/colour)" = red ]; do sleep 0.02; done
		cat /stint-work/order; cat /stint-settings/colour; echo; echo the end > /dev/termination-log`), func(p *corev1.Pod) {
		p.Spec.Volumes = []corev1.Volume{
			{Name: "work", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: "settings"},
			}}},
		}
		p.Spec.InitContainers = []corev1.Container{
			{Name: "first", Image: "none", Command: shell("echo first >> /stint-work/order"), VolumeMounts: mounts},
			{Name: "beside", Image: "none", RestartPolicy: &always, VolumeMounts: mounts,
				Command: shell("echo beside >> /stint-work/order; trap 'exit 0' TERM; while :; do sleep 0.02; done")},
			{Name: "waits", Image: "none", VolumeMounts: mounts,
				Command: shell("until grep -q beside /stint-work/order; do sleep 0.02; done; echo last >> /stint-work/order")},
		}
		p.Spec.Containers[0].VolumeMounts = mounts
	}))
	h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	if _, err := h.client.ConfigMaps().Modify(t.Context(), settings, func(m *corev1.ConfigMap) { m.Data = map[string]string{"colour": "red"} }); err != nil {
		t.Fatal(err)
	}
	done := h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
	if got, want := h.logOf(done), "first\nbeside\nlast\nred\n"; got != want {
		t.Errorf("log %q, want %q", got, want)
	}
	if got := done.Status.ContainerStatuses[0].State.Terminated.Message; got != "the end\n" {
		t.Errorf("termination message %q", got)
	}
	h.eventually("the volumes are removed", func() bool {
		_, err := os.Stat(filepath.Join(h.dir, "pods", string(pod.UID)))
		return os.IsNotExist(err)
	}, func() any { return h.dir })
}

// What would be written beside the volume cannot be kept, so it cannot be written, and the user is told what to do.
func TestAContainerWhoseMountPointIsMissing(t *testing.T) {
	rt := processes(t, t.TempDir())
	if !rt.Info().CanMount {
		t.Skip("no volumes here: " + rt.Info().WhyNoMount)
	}
	h := newTestNode(t, rt)
	h.startNode(nil)
	out := t.TempDir()
	_, err := h.client.ConfigMaps().Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "settings", Namespace: "default"}, Data: map[string]string{"colour": "blue"},
	})
	if err != nil {
		t.Fatal(err)
	}
	run := func(name string, end corev1.PodPhase) *corev1.Pod {
		pod := h.create(build(name, shell("cat "+out+"/config/colour > "+out+"/result.csv"), func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "settings", VolumeSource: corev1.VolumeSource{
				ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}},
			}}}
			p.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "settings", MountPath: out + "/config"}}
		}))
		return h.until(pod, "its end is told", inPhase(end))
	}
	failed := run("lacking", corev1.PodFailed)
	if got := h.logOf(failed); !strings.Contains(got, "Read-only file system") {
		t.Errorf("log %q", got)
	}
	event := h.event()
	for _, want := range []string{"Warning MissingMountPoint", out + " is read-only in container main", "mkdir -p " + out + "/config"} {
		if !strings.Contains(event, want) {
			t.Errorf("event %q, want %q", event, want)
		}
	}
	if err := os.Mkdir(filepath.Join(out, "config"), 0o755); err != nil {
		t.Fatal(err)
	}
	run("having", corev1.PodSucceeded)
	if data, err := os.ReadFile(filepath.Join(out, "result.csv")); err != nil || string(data) != "blue" {
		t.Errorf("the output is %q (%v)", data, err)
	}
}

func TestDeletionOfRealProcesses(t *testing.T) {
	h := newTestNode(t, processes(t, t.TempDir()))
	h.startNode(func(c *node.Config) { c.LogRemovalDelay(await.Limit) })
	pod := h.create(build("traps", shell("trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.02; done"), func(p *corev1.Pod) {
		p.Finalizers = []string{"example.com/hold"}
	}))
	running := h.until(pod, "the pod runs", inPhase(corev1.PodRunning))
	h.eventually("the trap is set", func() bool {
		text, err := os.ReadFile(filepath.Join(h.dir, "logs", "default_traps_"+string(pod.UID), "main", "0.log"))
		return err == nil && strings.Contains(string(text), "up")
	}, func() any { return nil })
	if err := h.client.Pods().Delete(t.Context(), running, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	done := h.until(pod, "the pod has ended well", inPhase(corev1.PodSucceeded))
	if got := h.logOf(done); got != "up\nbye\n" {
		t.Errorf("log %q", got)
	}
	if _, err := h.client.Pods().Modify(t.Context(), done, func(p *corev1.Pod) { p.Finalizers = nil }); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod goes", gone)
	h.eventually("the informer sees it go", func() bool {
		_, known, err := h.client.Pods().Informer().GetStore().Get(pod)
		return err == nil && !known
	}, func() any { return h.dir })
	// A client that was about to read the log still can, for a moment and no longer than the node runs.
	if got := readLog(t, podlogs.Stored(h.dir), done); got != "up\nbye\n" {
		t.Errorf("log of the pod that is gone %q", got)
	}
	h.stopNode()
	h.startNode(nil)
	h.eventually("the logs go", func() bool {
		_, err := os.Stat(filepath.Join(h.dir, "logs", "default_traps_"+string(pod.UID)))
		return os.IsNotExist(err)
	}, func() any { return h.dir })
}

func TestRestartsOfRealProcesses(t *testing.T) {
	h := newTestNode(t, processes(t, t.TempDir()))
	h.startNode(nil)
	marker := filepath.Join(t.TempDir(), "marker")
	pod := h.create(build("again", shell("test -e "+marker+" && echo second && exit 0; touch "+marker+"; echo first; exit 1"), func(p *corev1.Pod) {
		p.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
	}))
	done := h.until(pod, "the pod succeeds", inPhase(corev1.PodSucceeded))
	s := done.Status.ContainerStatuses[0]
	if s.RestartCount != 1 || s.LastTerminationState.Terminated == nil || s.LastTerminationState.Terminated.ExitCode != 1 {
		t.Errorf("container status %+v", s)
	}
	if got := h.logOf(done); got != "second\n" {
		t.Errorf("log %q", got)
	}
}
