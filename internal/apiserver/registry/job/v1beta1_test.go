package job

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/api/extensions/v1beta1"
	"github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

// oldJob returns a Job of extensions/v1beta1 as a user writes it.
func oldJob(autoSelector *bool, edits ...jobEdit) *v1beta1.Job {
	job := &v1beta1.Job{}
	v1beta1.FromBatch(registrytest.Job(edits...), job)
	job.Spec.AutoSelector = autoSelector
	return job
}

func TestDefaultsOfV1beta1(t *testing.T) {
	var unset, no, yes = (*bool)(nil), new(false), new(true)
	labelled := podLabels(map[string]string{"app": "x"})
	matching := func(labels map[string]string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: labels}
	}
	for sentence, c := range map[string]struct {
		job      *v1beta1.Job
		selector *metav1.LabelSelector
		labels   map[string]string
	}{
		"the selector is made of the labels":      {oldJob(unset, labelled), matching(map[string]string{"app": "x"}), map[string]string{"app": "x"}},
		"also where that is said":                 {oldJob(no, labelled), matching(map[string]string{"app": "x"}), map[string]string{"app": "x"}},
		"not where one is to be generated":        {oldJob(yes, labelled), nil, map[string]string{"app": "x"}},
		"not where there are no labels":           {oldJob(unset), nil, nil},
		"not where there is one":                  {oldJob(unset, labelled, selecting("app", "y")), matching(map[string]string{"app": "y"}), map[string]string{"app": "x"}},
		"labels that the Job has are not changed": {oldJob(unset, labelled, ownLabels(map[string]string{"b": "c"})), matching(map[string]string{"app": "x"}), map[string]string{"b": "c"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			asked := c.job.Spec.AutoSelector
			setV1beta1Defaults(c.job)
			got := []any{c.job.Spec.Selector, c.job.Labels, c.job.Spec.AutoSelector}
			if diff := cmp.Diff([]any{c.selector, c.labels, asked}, got); diff != "" {
				t.Errorf("selector, labels, autoSelector (-want +got):\n%s", diff)
			}
			if *c.job.Spec.BackoffLimit != defaultBackoffLimit || c.job.Spec.Template.Spec.DNSPolicy == "" {
				t.Error("what batch/v1 fills in is missing")
			}
			twice := c.job.DeepCopy()
			setV1beta1Defaults(twice)
			if diff := cmp.Diff(c.job, twice); diff != "" {
				t.Errorf("filled in again (-once +twice):\n%s", diff)
			}
			if selector := c.job.Spec.Selector; selector != nil {
				selector.MatchLabels["more"] = "z"
				if _, shared := c.job.Spec.Template.Labels["more"]; shared {
					t.Error("selector and template share one map")
				}
			}
		})
	}
}

func TestErrorsOfV1beta1NameItsOwnField(t *testing.T) {
	r := V1beta1(Resource(pod.Options{}))
	for sentence, edits := range map[string][]jobEdit{
		"a selector that is not the generated one": edits(selecting("app", "x"), podLabels(map[string]string{"app": "x"})),
		"no selector and nothing to make it of":    edits(specEdit(func(s *batchv1.JobSpec) { s.ManualSelector = new(true) })),
	} {
		job := createdJob(edits...)
		errs := r.Validate(context.Background(), job)
		if len(errs) == 0 {
			t.Errorf("%s: no error", sentence)
		}
		if text := errs.ToAggregate().Error(); strings.Contains(text, "manualSelector") || !strings.Contains(text, "autoSelector") {
			t.Errorf("%s: %s", sentence, text)
		}
	}
}

func TestV1beta1IsNotListedBesideBatch(t *testing.T) {
	if categories := V1beta1(Resource(pod.Options{})).Categories; len(categories) > 0 {
		t.Errorf("categories %v", categories)
	}
	if len(Resource(pod.Options{}).Categories) == 0 {
		t.Error("batch/v1 lost its categories")
	}
}
