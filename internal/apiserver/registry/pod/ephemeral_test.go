package pod

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// adding adds an ephemeral container with the edits.
func adding(name string, edits ...func(*corev1.EphemeralContainer)) podEdit {
	return inSpec(func(s *corev1.PodSpec) {
		c := corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "busybox"}}
		for _, edit := range edits {
			edit(&c)
		}
		s.EphemeralContainers = append(s.EphemeralContainers, c)
	})
}

func updateEphemeral(o Options, pod, old *corev1.Pod) (errors []string, warnings []string) {
	r, ctx := Resource(o), context.Background()
	r.EphemeralContainers.PrepareForUpdate(ctx, pod, old)
	for _, err := range r.EphemeralContainers.ValidateUpdate(ctx, pod, old) {
		errors = append(errors, err.Field+" "+string(err.Type)+" "+err.Detail)
	}
	return errors, r.EphemeralContainers.WarningsOnUpdate(ctx, pod, old)
}

func TestEphemeralContainerUpdates(t *testing.T) {
	target := func(name string) func(*corev1.EphemeralContainer) {
		return func(c *corev1.EphemeralContainer) { c.TargetContainerName = name }
	}
	without := inSpec(func(s *corev1.PodSpec) { s.EphemeralContainers = nil })
	mounts := func(m corev1.VolumeMount) func(*corev1.EphemeralContainer) {
		m.Name, m.MountPath = "data", "/data"
		return func(c *corev1.EphemeralContainer) { c.VolumeMounts = []corev1.VolumeMount{m} }
	}
	const e0 = "spec.ephemeralContainers[0]."
	for sentence, c := range map[string]struct {
		old, new []podEdit
		want     []string
	}{
		"one may be added":                          {nil, podEdits(adding("e")), nil},
		"another may be added":                      {podEdits(adding("e")), podEdits(adding("f")), nil},
		"none may be removed":                       {podEdits(adding("e")), podEdits(without), []string{"spec.ephemeralContainers Forbidden"}},
		"none may be replaced":                      {podEdits(adding("e")), podEdits(without, adding("f")), []string{"spec.ephemeralContainers Forbidden"}},
		"none may change":                           {podEdits(adding("e")), podEdits(without, adding("e", target("main"))), []string{"spec.ephemeralContainers Forbidden"}},
		"it has a name of its own":                  {nil, podEdits(adding("main")), []string{e0 + "name Duplicate"}},
		"two have two names":                        {nil, podEdits(adding("e"), adding("e")), []string{"spec.ephemeralContainers[1].name Duplicate"}},
		"it needs an image":                         {nil, podEdits(adding("e", func(c *corev1.EphemeralContainer) { c.Image = "" })), []string{e0 + "image Required"}},
		"a container may be its target":             {nil, podEdits(adding("e", target("main"))), nil},
		"its target must be there":                  {nil, podEdits(adding("e", target("missing"))), []string{e0 + "targetContainerName NotFound"}},
		"its target must not be like it":            {nil, podEdits(adding("e"), adding("f", target("e"))), []string{"spec.ephemeralContainers[1].targetContainerName NotFound"}},
		"it has no ports":                           {nil, podEdits(adding("e", func(c *corev1.EphemeralContainer) { c.Ports = []corev1.ContainerPort{{ContainerPort: 1}} })), []string{e0 + "ports Forbidden"}},
		"it is not watched":                         {nil, podEdits(adding("e", func(c *corev1.EphemeralContainer) { c.LivenessProbe = tcpProbe(1) })), []string{e0 + "livenessProbe Forbidden"}},
		"it has no hooks":                           {nil, podEdits(adding("e", func(c *corev1.EphemeralContainer) { c.Lifecycle = &corev1.Lifecycle{} })), []string{e0 + "lifecycle Forbidden"}},
		"it is not restarted":                       {nil, podEdits(adding("e", func(c *corev1.EphemeralContainer) { c.RestartPolicy = new(corev1.ContainerRestartPolicy) })), []string{e0 + "restartPolicy Forbidden"}},
		"the whole of a volume may be mounted":      {podEdits(withVolume(emptyDir)), podEdits(adding("e", mounts(corev1.VolumeMount{}))), nil},
		"a part of a volume cannot be mounted":      {podEdits(withVolume(emptyDir)), podEdits(adding("e", mounts(corev1.VolumeMount{SubPath: "a"}))), []string{e0 + "volumeMounts[0].subPath Forbidden"}},
		"a part that a variable names neither":      {podEdits(withVolume(emptyDir)), podEdits(adding("e", mounts(corev1.VolumeMount{SubPathExpr: "$(A)"}))), []string{e0 + "volumeMounts[0].subPathExpr Forbidden"}},
		"nothing else of the pod is even looked at": {nil, podEdits(inContainer(func(c *corev1.Container) { c.Image = "" }), adding("e")), nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			old := createdPod(c.old...)
			pod, r, ctx := editedPod(old, c.new...), Resource(Options{}), context.Background()
			r.EphemeralContainers.PrepareForUpdate(ctx, pod, old)
			registrytest.WantErrors(t, r.EphemeralContainers.ValidateUpdate(ctx, pod, old), c.want...)
			if pod.Spec.Containers[0].Image != old.Spec.Containers[0].Image {
				t.Error("another field has changed")
			}
		})
	}
}

var emptyDir = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}

func TestEphemeralContainersOnANode(t *testing.T) {
	targeted := adding("e", func(c *corev1.EphemeralContainer) { c.TargetContainerName = "main" })
	joining := with(ofImages, func(i *runtime.Info) { i.CanSharePIDsOf = true })
	for sentence, c := range map[string]struct {
		node  runtime.Info
		class string
		new   podEdit
		want  []string
	}{
		"processes have none": {registrytest.Able, runtime.ClassProcess, targeted, []string{"spec.ephemeralContainers[0] FieldValueForbidden " +
			"the process runtime runs the programs of this machine, without images: run one in a container of the pod with stint exec (or kubectl exec)"}},
		"images do": {joining, runtime.ClassOCI, targeted, nil},
		"an old host shares no process ids": {ofImages, runtime.ClassOCI, targeted, []string{"spec.ephemeralContainers[0].targetContainerName FieldValueForbidden " +
			"takes a host process of this version, which is started when all pods have ended: remove it"}},
		"an old host can do the rest": {ofImages, runtime.ClassOCI, adding("e"), nil},
		"they are judged as others are": {ofImages, runtime.ClassOCI, adding("e", func(c *corev1.EphemeralContainer) { c.TTY = true }),
			[]string{"spec.ephemeralContainers[0].tty FieldValueForbidden " + noStreams}},
	} {
		t.Run(sentence, func(t *testing.T) {
			old := createdPod(inSpec(func(s *corev1.PodSpec) { s.RuntimeClassName = &c.class }))
			errors, warnings := updateEphemeral(on(c.node), editedPod(old, c.new), old)
			if !slices.Equal(errors, c.want) || len(warnings) > 0 {
				t.Errorf("errors %q, warnings %q; want %q", errors, warnings, c.want)
			}
			// Those that are there already are not judged again.
			was := editedPod(old, c.new)
			if errors, _ := updateEphemeral(on(c.node), was.DeepCopy(), was); len(errors) > 0 {
				t.Errorf("without a change: %q", errors)
			}
		})
	}
}

func TestAnEphemeralContainerForAPodThatHasTerminated(t *testing.T) {
	old := createdPod(inSpec(func(s *corev1.PodSpec) { s.RuntimeClassName = new(string) }))
	old.Status.Phase = corev1.PodSucceeded
	_, warnings := updateEphemeral(Options{}, editedPod(old, adding("e")), old)
	if want := "spec.ephemeralContainers: has no effect: the pod has terminated, and starts no containers any more"; !slices.Equal(warnings, []string{want}) {
		t.Errorf("warnings %q", warnings)
	}
}
