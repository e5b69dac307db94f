package scenario_test

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func nodeSelector(value string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.Spec.Template.Spec.NodeSelector = map[string]string{"disk": value} }
}

func cpu(request string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)},
			Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
		}
	}
}

func resumed(j *batchv1.Job) { j.Spec.Suspend = ptr.To(false) }

func changes(all ...func(*batchv1.Job)) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		for _, change := range all {
			change(j)
		}
	}
}

// schedulingDirectives changes each field of the template that a suspended Job may change.
func schedulingDirectives(j *batchv1.Job) {
	t := &j.Spec.Template
	t.Labels["queue"], t.Annotations = "fast", map[string]string{"queue": "fast"}
	t.Spec.Tolerations = []corev1.Toleration{{Key: "queue", Operator: corev1.TolerationOpExists}}
	t.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}}
	t.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "disk", Operator: corev1.NodeSelectorOpExists}},
		}}},
	}}
}

// mutableTemplateScenarios are about the fields of the pod template that may change while a Job is suspended.
var mutableTemplateScenarios = []scenario{
	{
		name: "where pods go may change before a suspended Job starts",
		play: func(s *scene) {
			j := s.create(aJob(suspended))
			j.update(changes(schedulingDirectives, nodeSelector("hdd")))
			j.becomes(exactly("Suspended(JobSuspended) unstarted"))
			j.update(changes(nodeSelector("ssd"), resumed))
			j.becomes(exactly("active=1 !Suspended(JobResumed)"))
			p := j.active(1)[0]
			s.same("node selector", map[string]string{"disk": "ssd"}, p.Spec.NodeSelector)
			s.same("label and annotation", "fast fast", p.Labels["queue"]+" "+p.Annotations["queue"])
			s.same("gates", []corev1.PodSchedulingGate{{Name: "example.com/quota"}}, p.Spec.SchedulingGates)
			s.same("toleration", "queue", p.Spec.Tolerations[0].Key)
			s.same("affinity", "disk", p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchExpressions[0].Key)
			j.refuses(nodeSelector("tape"), "spec.template", "field is immutable")
		},
	},
	{
		name: "where pods go may change while a Job that had started is suspended",
		play: func(s *scene) {
			j := s.create(aJob(nodeSelector("hdd")))
			j.active(1)
			j.refuses(changes(suspended, nodeSelector("ssd")), "spec.template", "field is immutable")
			j.suspend()
			j.becomes(exactly("Suspended(JobSuspended) unstarted"))
			j.update(nodeSelector("ssd"))
			j.resume()
			j.becomes(exactly("active=1 !Suspended(JobResumed)"))
			s.same("node selector", map[string]string{"disk": "ssd"}, j.active(1)[0].Spec.NodeSelector)
		},
	},
	{
		name: "what pods need may change while a Job is suspended, before its first start and after",
		play: func(s *scene) {
			j := s.create(aJob(suspended))
			j.update(cpu("100m"))
			for _, next := range []string{"100m", "200m"} {
				j.becomes(exactly("Suspended(JobSuspended) unstarted"))
				j.update(cpu(next))
				j.resume()
				j.becomes(exactly("active=1 !Suspended(JobResumed)"))
				s.same("cpu", next, j.active(1)[0].Spec.Containers[0].Resources.Requests.Cpu().String())
				j.refuses(cpu("300m"), "spec.template", "field is immutable")
				j.suspend()
			}
		},
	},
	{
		name: "what pods need may change while pods of the former kind still end",
		play: func(s *scene) {
			j := s.create(aJob(replacesEnded))
			j.active(1).run()
			j.suspend()
			j.becomes(exactly("terminating=1 Suspended(JobSuspended) unstarted"))
			j.update(cpu("100m"))
			j.resume()
			j.stays(exactly("terminating=1 !Suspended(JobResumed)"))
			j.terminating(1).fail(1)
			j.becomes(exactly("active=1 !Suspended(JobResumed)"))
			s.same("cpu", "100m", j.active(1)[0].Spec.Containers[0].Resources.Requests.Cpu().String())
		},
	},
	{
		name: "nothing else of the template changes, suspended or not",
		play: func(s *scene) {
			j := s.create(aJob(suspended))
			j.becomes(exactly("Suspended(JobSuspended) unstarted"))
			j.refuses(func(j *batchv1.Job) { j.Spec.Template.Spec.Containers[0].Image = "other" }, "spec.template", "field is immutable")
			j.refuses(func(j *batchv1.Job) { j.Spec.Template.Spec.HostNetwork = true }, "spec.template", "field is immutable")
			j.refuses(func(j *batchv1.Job) { j.Spec.Template.Spec.ServiceAccountName = "other" }, "spec.template", "field is immutable")
		},
	},
}
