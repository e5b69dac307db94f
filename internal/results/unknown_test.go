package results

import (
	"testing"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/test/wrappers"
)

func TestUnknown(t *testing.T) {
	one := stintv1.JobResult{}
	two := stintv1.JobResult{Earlier: []stintv1.PodResult{{}}}
	for sentence, c := range map[string]struct {
		succeeded, failed int32
		dropped           int64
		items             []stintv1.JobResult
		want              int64
	}{
		"nothing has ended":                    {items: []stintv1.JobResult{one}, want: 0},
		"all that was counted is known":        {succeeded: 1, failed: 1, items: []stintv1.JobResult{two}, want: 0},
		"more is known than was counted yet":   {succeeded: 1, items: []stintv1.JobResult{one, two}, want: 0},
		"nothing was kept":                     {succeeded: 2, failed: 1, want: 3},
		"some was kept":                        {succeeded: 2, failed: 2, items: []stintv1.JobResult{two, one}, want: 1},
		"the oldest went":                      {succeeded: 4, dropped: 3, items: []stintv1.JobResult{one}, want: 3},
		"the oldest went, others run":          {succeeded: 4, dropped: 3, items: []stintv1.JobResult{one, one, one}, want: 3},
		"the oldest went, others never stayed": {succeeded: 4, failed: 2, dropped: 3, items: []stintv1.JobResult{one}, want: 5},
	} {
		t.Run(sentence, func(t *testing.T) {
			job := wrappers.MakeJob("j").Succeeded(c.succeeded).Failed(c.failed).Obj()
			if got := Unknown(job, &stintv1.JobResults{Dropped: c.dropped, Items: c.items}); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
