package node_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
)

// shellHook is a hook that runs a script.
func shellHook(script string) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: shell(script)}}
}

func TestHooksAndProbesInRealProcesses(t *testing.T) {
	t.Parallel() // It only waits, as long as the probes' periods.
	dir, files := t.TempDir(), t.TempDir()
	h := newTestNode(t, processes(t, dir))
	if !h.rt.Info().CanExec {
		t.Skip("no commands can be run in processes here")
	}
	h.startNode(nil)
	file := func(name string) string { return filepath.Join(files, name) }
	pod := h.create(build("lively", shell("trap 'cat "+file("stopping")+" > "+file("stopped")+"; exit 0' USR1; while :; do sleep 0.02; done"),
		func(p *corev1.Pod) {
			p.Spec.OS = &corev1.PodOS{Name: corev1.Linux}
			c := &p.Spec.Containers[0]
			c.Lifecycle = &corev1.Lifecycle{
				PostStart:  shellHook("echo $HOSTNAME > " + file("begun")),
				PreStop:    shellHook("echo bye > " + file("stopping")),
				StopSignal: ptr.To(corev1.SIGUSR1),
			}
			c.StartupProbe = everySecond("test -e " + file("begun"))
			c.ReadinessProbe = everySecond("test -e " + file("ready"))
			c.LivenessProbe = everySecond("no-such-program")
		}))
	h.until(pod, "it is started", func(p *corev1.Pod) bool { return ptr.Deref(statusOf(p, "main").Started, false) })
	if text, err := os.ReadFile(file("begun")); err != nil || string(text) != "lively\n" {
		t.Errorf("the postStart hook has left %q, %v", text, err)
	}
	if err := os.WriteFile(file("ready"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ready := h.until(pod, "it is ready", isReady)
	if got := statusOf(ready, "main").StopSignal; got == nil || *got != corev1.SIGUSR1 {
		t.Errorf("its status has the stop signal %v", got)
	}
	h.untilEvent(`Warning Unhealthy Liveness probe could not be run: cannot run "no-such-program": there is no such program in the container`)
	if err := h.client.Pods().Delete(t.Context(), ready, client.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	h.until(pod, "the pod goes", gone)
	if text, err := os.ReadFile(file("stopped")); err != nil || string(text) != "bye\n" {
		t.Errorf("the stop signal came with %q, %v", text, err)
	}
}

func TestNamesAndFilesOfRealProcesses(t *testing.T) {
	dir := t.TempDir()
	h := newTestNode(t, processes(t, dir))
	if !h.rt.Info().CanMount {
		t.Skip("processes have no mounts here")
	}
	h.startNode(nil)
	pod := h.create(build("named", shell("hostname; grep some.name /etc/hosts; grep -c $HOSTNAME /etc/hosts; echo $WORD; echo \"${NONE-none}\""), func(p *corev1.Pod) {
		p.Spec.Subdomain, p.Spec.SetHostnameAsFQDN = "sub", ptr.To(true)
		p.Spec.HostAliases = []corev1.HostAlias{{IP: "192.0.2.7", Hostnames: []string{"some.name"}}}
		p.Spec.Volumes = []corev1.Volume{{Name: "shared", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		p.Spec.InitContainers = []corev1.Container{{
			Name: "first", Image: "none", Command: shell("echo \"WORD='two words'\" > /mnt/env"),
			VolumeMounts: []corev1.VolumeMount{{Name: "shared", MountPath: "/mnt"}},
		}}
		from := func(name string) corev1.EnvVar {
			return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FileKeyRef: &corev1.FileKeySelector{
				VolumeName: "shared", Path: "env", Key: name, Optional: ptr.To(true),
			}}}
		}
		p.Spec.Containers[0].Env = []corev1.EnvVar{from("WORD"), from("NONE")}
	}))
	done := h.until(pod, "the pod ends", func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
	})
	got := strings.Fields(h.logOf(done))
	want := "named.sub.default.svc.cluster.local 192.0.2.7 some.name 1 two words none"
	if strings.Join(got, " ") != want {
		t.Errorf("%s: %q, want %q", done.Status.Phase, got, want)
	}
	machine, err := os.ReadFile("/etc/hosts")
	if err == nil && strings.Contains(string(machine), "some.name") {
		t.Error("the machine's own /etc/hosts has changed")
	}
}
