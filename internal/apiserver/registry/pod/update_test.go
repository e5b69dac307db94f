package pod

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestPodUpdates(t *testing.T) {
	deadline := func(seconds int64) podEdit {
		return inSpec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = &seconds })
	}
	image := func(name string) podEdit { return inContainer(func(c *corev1.Container) { c.Image = name }) }
	tolerations := func(t ...corev1.Toleration) podEdit {
		return inSpec(func(s *corev1.PodSpec) { s.Tolerations = t })
	}
	gates := func(names ...string) podEdit {
		return inSpec(func(s *corev1.PodSpec) {
			s.SchedulingGates = nil
			for _, name := range names {
				s.SchedulingGates = append(s.SchedulingGates, corev1.PodSchedulingGate{Name: name})
			}
		})
	}
	grace := func(seconds int64) podEdit {
		return inSpec(func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = &seconds })
	}
	selector := func(labels map[string]string) podEdit {
		return inSpec(func(s *corev1.PodSpec) { s.NodeSelector = labels })
	}
	node := func(name string) podEdit { return inSpec(func(s *corev1.PodSpec) { s.NodeName = name }) }
	terms := func(keys ...string) podEdit {
		var term corev1.NodeSelectorTerm
		for _, key := range keys {
			term.MatchExpressions = append(term.MatchExpressions, corev1.NodeSelectorRequirement{Key: key, Operator: "Exists"})
		}
		return inSpec(func(s *corev1.PodSpec) {
			s.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
				RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{term}},
			}}
		})
	}
	gpu := corev1.Toleration{Key: "gpu", Operator: "Exists", Effect: "NoExecute"}

	for sentence, c := range map[string]struct {
		old, new []podEdit
		want     []string
	}{
		"nothing changes":                      {nil, nil, nil},
		"labels may change":                    {nil, podEdits(func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }), nil},
		"an image may change":                  {nil, podEdits(image("perl:5.36")), nil},
		"an image may not go":                  {nil, podEdits(image("")), []string{firstContainer + "image Required"}},
		"an init container's image may change": {podEdits(withInit(corev1.Container{Name: "i"})), podEdits(inSpec(func(s *corev1.PodSpec) { s.InitContainers[0].Image = "b:1" })), nil},
		"a command may not change": {nil, podEdits(inContainer(func(c *corev1.Container) { c.Command = []string{"sh"} })),
			[]string{"spec Forbidden"}},
		"a container may not join": {nil, podEdits(inSpec(func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, corev1.Container{Name: "other", Image: "i"})
		})),
			[]string{"spec.containers Forbidden"}},
		"an init container may not join": {nil, podEdits(withInit(corev1.Container{Name: "i"})), []string{"spec.initContainers Forbidden"}},
		"resources may not change": {nil, podEdits(inContainer(func(c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{"cpu": amount("1")}
		})), []string{"spec Forbidden"}},
		"a deadline may be set":                     {nil, podEdits(deadline(5)), nil},
		"a deadline may come nearer":                {podEdits(deadline(5)), podEdits(deadline(4)), nil},
		"a deadline may not move away":              {podEdits(deadline(5)), podEdits(deadline(6)), []string{"spec.activeDeadlineSeconds Invalid"}},
		"a deadline may not go":                     {podEdits(deadline(5)), podEdits(inSpec(func(s *corev1.PodSpec) { s.ActiveDeadlineSeconds = nil })), []string{"spec.activeDeadlineSeconds Invalid"}},
		"a deadline must be in the future":          {nil, podEdits(deadline(0)), []string{"spec.activeDeadlineSeconds Invalid"}},
		"a toleration may join":                     {nil, podEdits(tolerations(gpu)), nil},
		"a toleration may last shorter":             {podEdits(tolerations(gpu)), podEdits(tolerations(corev1.Toleration{Key: "gpu", Operator: "Exists", Effect: "NoExecute", TolerationSeconds: ptr.To[int64](3)})), nil},
		"a toleration may not go":                   {podEdits(tolerations(gpu)), podEdits(tolerations()), []string{"spec.tolerations Forbidden"}},
		"a new toleration is judged":                {nil, podEdits(tolerations(corev1.Toleration{})), []string{"spec.tolerations[0].operator Invalid"}},
		"a gate may open":                           {podEdits(gates("a", "b")), podEdits(gates("b")), nil},
		"a gate may not close":                      {podEdits(gates("a")), podEdits(gates("a", "b")), []string{"spec.schedulingGates[1].name Forbidden"}},
		"behind a gate, nodes may be narrowed":      {podEdits(gates("a")), podEdits(selector(map[string]string{"disk": "ssd"})), nil},
		"behind a gate, nodes may not be widened":   {podEdits(gates("a"), selector(map[string]string{"disk": "ssd"})), podEdits(selector(nil)), []string{"spec.nodeSelector Invalid"}},
		"without a gate, nodes stay":                {nil, podEdits(selector(map[string]string{"disk": "ssd"})), []string{"spec Forbidden"}},
		"another grace period stays":                {podEdits(grace(30)), podEdits(grace(1)), []string{"spec Forbidden"}},
		"behind a gate, node terms may be narrowed": {podEdits(gates("a"), terms("disk")), podEdits(terms("disk", "cpu")), nil},
		"behind a gate, node terms may not change":  {podEdits(gates("a"), terms("disk")), podEdits(terms("cpu", "disk")), []string{"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0] Invalid"}},
		"behind a gate, node terms may come":        {podEdits(gates("a")), podEdits(terms("disk")), nil},
		"only a binding binds a pod":                {nil, podEdits(node("n1")), []string{"spec Forbidden"}},
		"a pod may not move":                        {podEdits(node("n1")), podEdits(node("n2")), []string{"spec Forbidden"}},
		"an annotation is judged": {nil, podEdits(func(p *corev1.Pod) { p.Annotations = map[string]string{corev1.PodDeletionCost: "x"} }),
			[]string{"metadata.annotations[controller.kubernetes.io/pod-deletion-cost] Invalid"}},
		"a profile stays": {nil, podEdits(func(p *corev1.Pod) {
			p.Annotations = map[string]string{corev1.DeprecatedAppArmorBetaContainerAnnotationKeyPrefix + "main": "unconfined"}
		}), []string{"metadata.annotations[container.apparmor.security.beta.kubernetes.io/main] Forbidden"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			old := createdPod(c.old...)
			pod, r, ctx := editedPod(old, c.new...), Resource(Options{}), context.Background()
			r.PrepareForUpdate(ctx, pod, old)
			registrytest.WantErrors(t, r.ValidateUpdate(ctx, pod, old), c.want...)
		})
	}
}

func TestPodUpdateCountsChangesOfTheSpec(t *testing.T) {
	r, old := Resource(Options{}), createdPod(inContainer(func(c *corev1.Container) {
		c.Resources.Requests = corev1.ResourceList{"cpu": amount("1")}
	}))
	for sentence, c := range map[string]struct {
		edit podEdit
		want int64
	}{
		"a label is no change of the spec": {func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }, 1},
		"an amount in other words is not": {inContainer(func(c *corev1.Container) {
			c.Resources.Requests = corev1.ResourceList{"cpu": amount("1000m")}
		}), 1},
		"nothing instead of none is not":   {inSpec(func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{} }), 1},
		"an image is":                      {inContainer(func(c *corev1.Container) { c.Image = "perl:6" }), 2},
		"a generation that is sent is not": {func(p *corev1.Pod) { p.Generation = 7 }, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := editedPod(old, c.edit, func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })
			r.PrepareForUpdate(context.Background(), pod, old)
			if pod.Generation != c.want || pod.Status.Phase != corev1.PodPending {
				t.Errorf("generation %d, phase %s; want %d, Pending", pod.Generation, pod.Status.Phase, c.want)
			}
		})
	}
}

func TestPodUpdateSaysWhatMayNotChange(t *testing.T) {
	r, ctx, old := Resource(Options{}), context.Background(), createdPod()
	pod := editedPod(old, inSpec(func(s *corev1.PodSpec) { s.Hostname, s.Subdomain = "a", "b" }))
	r.PrepareForUpdate(ctx, pod, old)
	errs := r.ValidateUpdate(ctx, pod, old)
	if len(errs) != 1 || !strings.Contains(errs[0].Detail, "`spec.hostname` and `spec.subdomain` would") {
		t.Errorf("got %v", errs)
	}
}
