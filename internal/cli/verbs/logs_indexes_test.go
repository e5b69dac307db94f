package verbs

import (
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestParseIndexes(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "array"},
		Spec: batchv1.JobSpec{Completions: ptr.To[int32](10), CompletionMode: ptr.To(batchv1.IndexedCompletion)}}
	for text, tc := range map[string]struct {
		want  []int64
		wrong string
	}{
		"7":                        {want: []int64{7}},
		"0-3":                      {want: []int64{0, 1, 2, 3}},
		"0,2,5-7":                  {want: []int64{0, 2, 5, 6, 7}},
		"3, 1":                     {want: []int64{3, 1}},
		"10":                       {wrong: "there is no index 10: job array has indexes 0 to 9"},
		"8-4000000000000000000000": {wrong: `--index 8-4000000000000000000000: "4000000000000000000000" is no index`},
		"0-2000000000":             {wrong: "there is no index 2000000000"},
		"3-1":                      {wrong: "--index 3-1: 3 comes after 1"},
		"-1":                       {wrong: `--index -1: "" is no index`},
		"":                         {wrong: `"" is no index`},
		"1,":                       {wrong: `"" is no index`},
		"a":                        {wrong: `"a" is no index: write numbers from 0 on`},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := parseIndexes(text, job)
			if !slices.Equal(got, tc.want) || (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("got %v, %v; want %v, %s", got, err, tc.want, tc.wrong)
			}
		})
	}
}
