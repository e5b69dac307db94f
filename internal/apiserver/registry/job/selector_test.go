package job

import (
	"context"
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

// generatedFor returns the labels that are generated for the pods of a Job.
func generatedFor(uid, name string) map[string]string {
	return map[string]string{
		"batch.kubernetes.io/controller-uid": uid,
		"batch.kubernetes.io/job-name":       name,
		"controller-uid":                     uid,
		"job-name":                           name,
	}
}

func plus(labels map[string]string, pairs ...string) map[string]string {
	labels = maps.Clone(labels)
	for i := 0; i < len(pairs); i += 2 {
		labels[pairs[i]] = pairs[i+1]
	}
	return labels
}

func podLabels(labels map[string]string) jobEdit {
	return func(job *batchv1.Job) { job.Spec.Template.Labels = labels }
}

func ownLabels(labels map[string]string) jobEdit {
	return func(job *batchv1.Job) { job.Labels = labels }
}

func selecting(pairs ...string) jobEdit {
	return specEdit(func(s *batchv1.JobSpec) {
		s.Selector = &metav1.LabelSelector{MatchLabels: plus(map[string]string{}, pairs...)}
	})
}

func TestJobSelectorIsGenerated(t *testing.T) {
	generated, other := generatedFor(registrytest.JobUID, "pi"), generatedFor(otherJobsID, "old")
	for sentence, c := range map[string]struct {
		edits []jobEdit
		pods  map[string]string
		own   map[string]string
	}{
		"a Job without labels gets them all": {
			nil, generated, generated},
		"labels of the author's own stay": {
			edits(podLabels(map[string]string{"app": "x"}), ownLabels(map[string]string{"team": "y"})),
			plus(generated, "app", "x"), map[string]string{"team": "y"}},
		"an empty selector is none": {
			edits(selecting()), generated, generated},
		"an exported Job is generated anew": {
			edits(selecting("batch.kubernetes.io/controller-uid", otherJobsID), podLabels(other), ownLabels(other)),
			generated, generated},
		"an exported Job keeps labels of the author's own": {
			edits(selecting("batch.kubernetes.io/controller-uid", otherJobsID), podLabels(plus(other, "app", "x")),
				ownLabels(plus(other, "team", "y"))),
			plus(generated, "app", "x"), plus(generated, "team", "y")},
		"a Job exported from a cluster before 1.27 is generated anew": {
			edits(selecting("controller-uid", otherJobsID),
				podLabels(map[string]string{"controller-uid": otherJobsID, "job-name": "old"})),
			generated, generated},
		"a Job of document 004 has prefixed labels only": {
			edits(selecting("batch.kubernetes.io/controller-uid", otherJobsID),
				podLabels(map[string]string{"batch.kubernetes.io/controller-uid": otherJobsID, "batch.kubernetes.io/job-name": "old"})),
			generated, generated},
		"labels that were left when the selector was cut out are no matter": {
			edits(podLabels(other)), generated, generated},
		"a selector that was left when the labels were cut out is no matter": {
			edits(selecting("batch.kubernetes.io/controller-uid", otherJobsID)), generated, generated},
		"names that were left when the UIDs were cut out are no matter": {
			edits(selecting(), podLabels(map[string]string{"batch.kubernetes.io/job-name": "old", "job-name": "old"}),
				ownLabels(map[string]string{"batch.kubernetes.io/job-name": "old", "team": "y"})),
			generated, map[string]string{"batch.kubernetes.io/job-name": "pi", "team": "y"}},
		"a label on the Job that is not a copy stays": {
			edits(podLabels(other), ownLabels(map[string]string{"job-name": "mine"})),
			generated, map[string]string{"job-name": "mine"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			job := createdJob(c.edits...)
			if diff := cmp.Diff(c.pods, job.Spec.Template.Labels); diff != "" {
				t.Errorf("labels of the template (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.own, job.Labels); diff != "" {
				t.Errorf("labels of the Job (-want +got):\n%s", diff)
			}
			want := &metav1.LabelSelector{MatchLabels: map[string]string{"batch.kubernetes.io/controller-uid": registrytest.JobUID}}
			if diff := cmp.Diff(want, job.Spec.Selector); diff != "" {
				t.Errorf("selector (-want +got):\n%s", diff)
			}
			registrytest.WantErrors(t, Resource(pod.Options{}).Validate(context.Background(), job))
		})
	}
}

func TestJobSelectorIsRefused(t *testing.T) {
	const labels, selector = "spec.template.metadata.labels", "spec.selector Invalid"
	const uidLabel, nameLabel = labels + "[batch.kubernetes.io/controller-uid] Invalid", labels + "[batch.kubernetes.io/job-name] Invalid"
	expression := specEdit(func(s *batchv1.JobSpec) {
		s.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpExists}}
	})
	runCreateCases(t, map[string]createCase{
		"a selector needs manualSelector": {
			edits(selecting("app", "x"), podLabels(map[string]string{"app": "x"})), []string{selector}},
		"a selector that matches nothing is told twice": {
			edits(selecting("app", "x")), []string{selector, labels + " Invalid"}},
		"a selector by the Job's own name is accepted": {
			edits(selecting("batch.kubernetes.io/job-name", "pi")), nil},
		"a UID beside a label of one's own was not generated": {
			edits(selecting("batch.kubernetes.io/controller-uid", otherJobsID, "app", "x"),
				podLabels(plus(generatedFor(otherJobsID, "pi"), "app", "x"))),
			[]string{selector, uidLabel, labels + "[controller-uid] Invalid"}},
		"a UID beside an expression was not generated": {
			edits(selecting("batch.kubernetes.io/controller-uid", otherJobsID), expression,
				podLabels(plus(generatedFor(otherJobsID, "pi"), "app", "x"))),
			[]string{selector, uidLabel, labels + "[controller-uid] Invalid"}},
		"two UIDs were not generated": {
			edits(podLabels(plus(generatedFor(otherJobsID, "pi"), "controller-uid", "00000000-33cf-4a3b-8c6f-0a1d7f7f0c01"))),
			[]string{uidLabel, labels + "[controller-uid] Invalid", labels + " Invalid"}},
		"a controller-uid that is no UID was not generated": {
			edits(podLabels(map[string]string{"controller-uid": "mine"})), []string{labels + "[controller-uid] Invalid"}},
		"another name without a prefix was not generated": {
			edits(podLabels(map[string]string{"job-name": "old"})), []string{labels + "[job-name] Invalid"}},
		"two names were not generated": {
			edits(podLabels(map[string]string{"batch.kubernetes.io/job-name": "old", "job-name": "older"})),
			[]string{nameLabel, labels + "[job-name] Invalid"}},
		"a name beside a selector of one's own was not generated": {
			edits(selecting("app", "x"), podLabels(map[string]string{"app": "x", "batch.kubernetes.io/job-name": "old"})),
			[]string{nameLabel, selector}},
		"a selector with a bad key is refused": {
			edits(manualSelector(map[string]string{"a b": "x"})),
			[]string{"spec.selector.matchLabels Invalid", "spec.template.labels Invalid"}},
	})
}

func TestManualSelectorIsLeftAlone(t *testing.T) {
	mine := map[string]string{"app": "x"}
	job := createdJob(manualSelector(mine))
	if diff := cmp.Diff(mine, job.Spec.Template.Labels); diff != "" {
		t.Errorf("labels of the template (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(mine, job.Labels); diff != "" {
		t.Errorf("labels of the Job (-want +got):\n%s", diff)
	}
	registrytest.WantErrors(t, Resource(pod.Options{}).Validate(context.Background(), job))

	runCreateCases(t, map[string]createCase{
		"even another Job's UID may be asked for": {
			edits(manualSelector(generatedFor(otherJobsID, "old"))), nil},
		"a selector is needed": {
			edits(manualSelector(mine), specEdit(func(s *batchv1.JobSpec) { s.Selector = nil })), []string{"spec.selector Required", "spec.template.metadata.labels Invalid"}},
		"the template must match": {
			edits(manualSelector(mine), podLabels(map[string]string{"app": "y"})), []string{"spec.template.metadata.labels Invalid"}},
	})
}

func TestJobWithoutUIDIsRefused(t *testing.T) {
	job := createdJob(func(job *batchv1.Job) { job.UID = "" })
	registrytest.WantErrors(t, Resource(pod.Options{}).Validate(context.Background(), job), "metadata.uid Required")
}

func TestJobTakesOverTheLabelsOfItsTemplate(t *testing.T) {
	job, r := registrytest.Job(podLabels(map[string]string{"app": "x"})), Resource(pod.Options{})
	r.Default(job)
	r.PrepareForCreate(context.Background(), job)
	if diff := cmp.Diff(plus(generatedFor(registrytest.JobUID, "pi"), "app", "x"), job.Labels); diff != "" {
		t.Errorf("labels of the Job (-want +got):\n%s", diff)
	}
	job.Labels["team"] = "y"
	if _, shared := job.Spec.Template.Labels["team"]; shared {
		t.Error("the Job and its template share one map of labels")
	}
}

func TestLabelsOfTheAuthorStayAsTheyAre(t *testing.T) {
	mine := map[string]string{"app": "x"}
	job := createdJob(podLabels(mine), ownLabels(maps.Clone(mine)))
	if diff := cmp.Diff(mine, job.Labels); diff != "" {
		t.Errorf("labels of the Job (-want +got):\n%s", diff)
	}
}

func TestExportedJobIsAppliedAgain(t *testing.T) {
	for sentence, exported := range map[string][]jobEdit{
		"as it was": edits(selecting("batch.kubernetes.io/controller-uid", otherJobsID), podLabels(generatedFor(otherJobsID, "old"))),
		"without its UIDs": edits(selecting(),
			podLabels(map[string]string{"batch.kubernetes.io/job-name": "old", "job-name": "old"})),
		"without its UIDs, merged with what is stored": edits(selecting(), podLabels(generatedFor(registrytest.JobUID, "old"))),
	} {
		t.Run(sentence, func(t *testing.T) {
			r := Resource(pod.Options{})
			old := createdJob(exported...)
			// A client that replaces the Job may leave out the UID.
			job := editedJob(old, append(exported, func(job *batchv1.Job) { job.UID = "" })...)
			r.PrepareForUpdate(context.Background(), job, old)
			job.UID = old.UID
			if diff := cmp.Diff(old, job); diff != "" {
				t.Errorf("the second time changes (-once +twice):\n%s", diff)
			}
			registrytest.WantErrors(t, r.ValidateUpdate(context.Background(), job, old))
		})
	}
}

func TestUpdateDoesNotOverruleAManualSelector(t *testing.T) {
	mine := createdJob(manualSelector(map[string]string{"app": "x"}))
	job := editedJob(mine, selecting("controller-uid", otherJobsID), specEdit(func(s *batchv1.JobSpec) { s.ManualSelector = nil }))
	asked := job.DeepCopy()
	Resource(pod.Options{}).PrepareForUpdate(context.Background(), job, mine)
	if diff := cmp.Diff(asked.Spec, job.Spec); diff != "" {
		t.Errorf("the spec changed (-want +got):\n%s", diff)
	}
}
