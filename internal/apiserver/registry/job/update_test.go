package job

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
)

// updateCase is an update of a Job that was created with the edits in old, with the expected errors.
type updateCase struct {
	old, edits []jobEdit
	want       []string
}

func runUpdateCases(t *testing.T, cases map[string]updateCase) {
	t.Helper()
	for sentence, c := range cases {
		t.Run(sentence, func(t *testing.T) {
			// Repeat the edits, because the creation drops the status.
			old := createdJob(c.old...)
			for _, edit := range c.old {
				edit(old)
			}
			job := editedJob(old, c.edits...)
			registrytest.WantErrors(t, Resource(pod.Options{}).ValidateUpdate(context.Background(), job, old), c.want...)
		})
	}
}

func TestJobUpdateOfTheSpec(t *testing.T) {
	set := func(edit func(*batchv1.JobSpec)) []jobEdit { return edits(specEdit(edit)) }
	perIndex := func(n int32) jobEdit { return specEdit(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = &n }) }
	success := func(n int32) jobEdit {
		return specEdit(func(s *batchv1.JobSpec) {
			s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: []batchv1.SuccessPolicyRule{{SucceededCount: &n}}}
		})
	}
	managed := func(by string) jobEdit { return specEdit(func(s *batchv1.JobSpec) { s.ManagedBy = &by }) }
	runUpdateCases(t, map[string]updateCase{
		"parallelism may change":             {nil, set(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](5) }), nil},
		"suspend may change":                 {nil, edits(suspended), nil},
		"backoffLimit may change":            {nil, set(func(s *batchv1.JobSpec) { s.BackoffLimit = ptr.To[int32](0) }), nil},
		"activeDeadlineSeconds may change":   {nil, set(func(s *batchv1.JobSpec) { s.ActiveDeadlineSeconds = ptr.To[int64](1) }), nil},
		"ttlSecondsAfterFinished may change": {nil, set(func(s *batchv1.JobSpec) { s.TTLSecondsAfterFinished = ptr.To[int32](0) }), nil},
		"maxFailedIndexes may change": {edits(indexed(5, 1), perIndex(1)),
			set(func(s *batchv1.JobSpec) { s.MaxFailedIndexes = ptr.To[int32](3) }), nil},
		"podReplacementPolicy may change":  {nil, set(func(s *batchv1.JobSpec) { s.PodReplacementPolicy = ptr.To(batchv1.Failed) }), nil},
		"what may change is still checked": {nil, set(func(s *batchv1.JobSpec) { s.Parallelism = ptr.To[int32](-1) }), []string{"spec.parallelism Invalid"}},

		"completions may not change":                      {nil, set(func(s *batchv1.JobSpec) { s.Completions = ptr.To[int32](2) }), []string{"spec.completions Invalid"}},
		"completions may not go":                          {nil, set(func(s *batchv1.JobSpec) { s.Completions = nil }), []string{"spec.completions Invalid"}},
		"an Indexed Job may be scaled up":                 {edits(indexed(3, 3)), edits(indexed(4, 4)), nil},
		"an Indexed Job may be scaled down":               {edits(indexed(3, 2)), edits(indexed(1, 1)), nil},
		"completions alone may not be scaled":             {edits(indexed(3, 3)), edits(indexed(4, 3)), []string{"spec.completions Invalid"}},
		"parallelism alone may":                           {edits(indexed(3, 3)), edits(indexed(3, 1)), nil},
		"an Indexed Job keeps completions":                {edits(indexed(3, 3)), set(func(s *batchv1.JobSpec) { s.Completions = nil }), []string{"spec.completions Required"}},
		"a scaled Job's host names must still be in room": {edits(indexed(10, 10), named(strings.Repeat("a", 61))), edits(indexed(11, 11)), []string{"metadata.name Invalid"}},

		"completionMode may not change": {edits(indexed(1, 1)),
			set(func(s *batchv1.JobSpec) { s.CompletionMode = ptr.To(batchv1.NonIndexedCompletion) }), []string{"spec.completionMode Invalid"}},
		"selector may not change": {edits(manualSelector(map[string]string{"app": "x"})),
			edits(selecting("app", "x"), specEdit(func(s *batchv1.JobSpec) { s.Selector.MatchLabels = map[string]string{} })), []string{"spec.selector Invalid"}},
		"a generated selector may not go": {nil,
			set(func(s *batchv1.JobSpec) { s.Selector = nil }), []string{"spec.selector Invalid", "spec.selector Required", "spec.template.metadata.labels Invalid"}},
		"podFailurePolicy may not come":       {nil, edits(failurePolicy(failOnExit(1)), specEdit(func(s *batchv1.JobSpec) { s.PodReplacementPolicy = ptr.To(batchv1.Failed) })), []string{"spec.podFailurePolicy Invalid"}},
		"podFailurePolicy may not change":     {edits(failurePolicy(failOnExit(1))), edits(failurePolicy(failOnExit(2))), []string{"spec.podFailurePolicy Invalid"}},
		"successPolicy may not change":        {edits(indexed(3, 3), success(1)), edits(success(2)), []string{"spec.successPolicy Invalid"}},
		"backoffLimitPerIndex may not change": {edits(indexed(3, 3), perIndex(1)), edits(perIndex(2)), []string{"spec.backoffLimitPerIndex Invalid"}},
		"managedBy may not come":              {nil, edits(managed("a.io/x")), []string{"spec.managedBy Invalid"}},
		"managedBy may not change":            {edits(managed("a.io/x")), edits(managed("a.io/y")), []string{"spec.managedBy Invalid"}},
	})
}

func TestJobUpdateOfTheTemplate(t *testing.T) {
	pod := func(edit func(*corev1.PodSpec)) jobEdit {
		return specEdit(func(s *batchv1.JobSpec) { edit(&s.Template.Spec) })
	}
	image := pod(func(p *corev1.PodSpec) { p.Containers[0].Image = "perl:5.36" })
	cpu := pod(func(p *corev1.PodSpec) {
		p.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("2")}
	})
	withInit := pod(func(p *corev1.PodSpec) {
		p.InitContainers = []corev1.Container{{Name: "init", Image: "x", Command: []string{"true"},
			TerminationMessagePath: "/dev/termination-log", TerminationMessagePolicy: "File", ImagePullPolicy: "Always"}}
	})
	initCPU := pod(func(p *corev1.PodSpec) {
		p.InitContainers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("2")}
	})
	renamed := pod(func(p *corev1.PodSpec) { p.Containers[0].Name = "other" })
	selector := pod(func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"disk": "ssd"} })
	directives := pod(func(p *corev1.PodSpec) {
		p.NodeSelector = map[string]string{"disk": "ssd"}
		p.Tolerations = []corev1.Toleration{{Key: "gpu", Operator: corev1.TolerationOpExists}}
		p.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
	})
	label := specEdit(func(s *batchv1.JobSpec) {
		s.Template.Labels["queue"] = "a"
		s.Template.Annotations = map[string]string{"queue": "a"}
	})
	uidGone := specEdit(func(s *batchv1.JobSpec) { delete(s.Template.Labels, "controller-uid") })
	started := func(job *batchv1.Job) { job.Status.StartTime = &metav1.Time{Time: time.Unix(1000, 0)} }
	active := func(job *batchv1.Job) { job.Status.Active = 1 }
	marked := func(job *batchv1.Job) {
		job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}}
	}
	resumed := specEdit(func(s *batchv1.JobSpec) { s.Suspend = ptr.To(false) })
	const whole, spec = "spec.template Invalid", "spec.template.spec Invalid"
	runUpdateCases(t, map[string]updateCase{
		"the image of a Job that runs stays":         {nil, edits(image), []string{whole}},
		"the resources of a Job that runs stay":      {nil, edits(cpu), []string{whole}},
		"the node selector of a Job that runs stays": {nil, edits(selector), []string{whole}},
		"a Job that is being suspended is not yet":   {nil, edits(suspended, selector), []string{whole}},
		"a suspended Job's resources may change":     {edits(suspended), edits(cpu), nil},
		"an init container's resources may change":   {edits(suspended, withInit), edits(initCPU), nil},
		// kubernetes/kubernetes#139329: the Job had to have the condition Suspended first.
		"a suspended Job's directives may change":       {edits(suspended), edits(directives), nil},
		"a suspended Job's pod labels may change":       {edits(suspended), edits(label), nil},
		"generated labels may not go":                   {edits(suspended), edits(uidGone), []string{"spec.template.metadata.labels[controller-uid] Required"}},
		"all may change as the Job resumes":             {edits(suspended), edits(cpu, directives, label, resumed), nil},
		"a suspended Job's image stays":                 {edits(suspended), edits(image), []string{spec}},
		"a suspended Job's containers stay":             {edits(suspended), edits(renamed, cpu), []string{spec}},
		"a suspended Job gets no container":             {edits(suspended), edits(withInit), []string{spec}},
		"what may change is still checked":              {edits(suspended), edits(pod(func(p *corev1.PodSpec) { p.NodeSelector = map[string]string{"a b": ""} })), []string{"spec.template.spec.nodeSelector Invalid"}},
		"pods of the old template must be gone":         {edits(suspended, active), edits(selector), []string{whole}},
		"a Job that has started must be marked":         {edits(suspended, started), edits(selector), []string{whole}},
		"a Job that is marked may change":               {edits(suspended, started, marked), edits(selector, cpu), nil},
		"a Job that is marked, with pods, may not":      {edits(suspended, started, marked, active), edits(selector), []string{whole}},
		"a mark without suspend is from before":         {edits(started, marked), edits(selector), []string{whole}},
		"an update that changes nothing is always fine": {edits(started, active), nil, nil},
	})
}

func TestJobUpdateOfAffinity(t *testing.T) {
	node := &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{{
			Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"a"}}}}}}}
	pods := &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
		TopologyKey: "zone", LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}}}}
	affinity := func(a *corev1.Affinity) jobEdit {
		return specEdit(func(s *batchv1.JobSpec) { s.Template.Spec.Affinity = a })
	}
	none, nodes, both := affinity(nil), affinity(&corev1.Affinity{NodeAffinity: node}), affinity(&corev1.Affinity{NodeAffinity: node, PodAffinity: pods})
	onlyPods := affinity(&corev1.Affinity{PodAffinity: pods})
	refused := []string{"spec.template.spec Invalid"}
	runUpdateCases(t, map[string]updateCase{
		"node affinity may come":                 {edits(suspended), edits(nodes), nil},
		"node affinity may go":                   {edits(suspended, nodes), edits(none), nil},
		"node affinity may go beside another":    {edits(suspended, both), edits(onlyPods), nil},
		"node affinity may come beside another":  {edits(suspended, onlyPods), edits(both), nil},
		"pod affinity may not come":              {edits(suspended), edits(both), refused},
		"pod affinity may not go":                {edits(suspended, both), edits(nodes), refused},
		"pod affinity may not go with the rest":  {edits(suspended, both), edits(none), refused},
		"an empty affinity is as good as none":   {edits(suspended), edits(affinity(&corev1.Affinity{})), nil},
		"none of this while the Job is not idle": {edits(nodes), edits(none), []string{"spec.template Invalid"}},
	})
}

func TestJobUpdateLooksOnlyAtChanges(t *testing.T) {
	// On a machine that supports less, the finalizers of stored Jobs must still be removable.
	unable := Resource(pod.Options{Node: func() noderuntime.Info { return noderuntime.Info{WhyNoMount: "no user namespaces"} }})
	mounting := specEdit(func(s *batchv1.JobSpec) {
		s.Template.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		s.Template.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}
	})
	old := createdJob(mounting, func(job *batchv1.Job) { job.Finalizers = []string{"orphan"} })
	if errs := unable.Validate(context.Background(), old); len(errs) == 0 {
		t.Fatal("the node can mount after all: this test has lost its point")
	}
	freed := editedJob(old, func(job *batchv1.Job) { job.Finalizers = nil })
	registrytest.WantErrors(t, unable.ValidateUpdate(context.Background(), freed, old))
	registrytest.WantErrors(t, unable.ValidateUpdate(context.Background(), editedJob(old, suspended), old))
}

func TestJobWithoutLabelsTakesThoseOfItsPods(t *testing.T) {
	old := createdJob()
	job := editedJob(old, func(job *batchv1.Job) { job.Labels = nil })
	r := Resource(pod.Options{})
	r.Default(job)
	r.PrepareForUpdate(context.Background(), job, old)
	if job.Labels["job-name"] != "pi" {
		t.Errorf("labels are %v", job.Labels)
	}
}
