package model_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/simulated"
)

// TestRunsStartWhenTheyAreDue: at the very moment, whether the controller hears news meanwhile or none, is told
// everything again, or is relieved. On a real clock none but "not before" can be told, since a slow machine is always later.
func TestRunsStartWhenTheyAreDue(t *testing.T) {
	const born = 17 * time.Second // of the minute
	for sentence, c := range map[string]struct {
		spec batchv1.CronJobSpec
		// due is how long after its creation each run is.
		due []time.Duration
	}{
		"each minute":                {batchv1.CronJobSpec{Schedule: "* * * * *"}, []time.Duration{43 * time.Second, 103 * time.Second, 163 * time.Second}},
		"each minute in a time zone": {batchv1.CronJobSpec{Schedule: "* * * * *", TimeZone: ptr.To("America/St_Johns")}, []time.Duration{43 * time.Second, 103 * time.Second}},
		"with a starting deadline":   {batchv1.CronJobSpec{Schedule: "* * * * *", StartingDeadlineSeconds: ptr.To[int64](1)}, []time.Duration{43 * time.Second, 103 * time.Second}},
		"every fifty seconds":        {batchv1.CronJobSpec{Schedule: "@every 50s"}, []time.Duration{50 * time.Second, 100 * time.Second, 150 * time.Second}},
		"every five hours":           {batchv1.CronJobSpec{Schedule: "@every 5h1m"}, []time.Duration{301 * time.Minute, 602 * time.Minute}},
	} {
		for how, meanwhile := range meanwhiles {
			t.Run(sentence+", "+how, func(t *testing.T) {
				c.spec.JobTemplate.Spec = jobSpec()
				why := simulated.Play(t, func(sw *simulated.World) {
					w := newWorld(sw)
					w.Pass(born)
					w.create(&batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: c.spec})
					created := time.Now()
					w.start()
					w.Rest()
					for _, due := range c.due {
						w.expectRunAt(created.Add(due), meanwhile)
					}
				})
				if why != nil {
					t.Fatal(why)
				}
			})
		}
	}
}

// meanwhiles are what may happen to a controller before a run is due.
var meanwhiles = map[string]func(*world){
	"quiet": func(*world) {},
	"told everything again": func(w *world) {
		for _, feed := range w.Processes[0].Feeds() {
			feed.Repeat()
		}
	},
	"its watches broken": func(w *world) {
		for _, feed := range w.Processes[0].Feeds() {
			feed.Relist()
		}
	},
	"relieved by another": func(w *world) {
		w.Leave(w.Processes[0])
		w.Recover(w.start)
	},
}

// expectRunAt expects a run to start at an instant, and none a moment before. It ends at once.
func (w *world) expectRunAt(due time.Time, meanwhile func(*world)) {
	const moment = time.Millisecond
	w.Pass(time.Until(due) / 2)
	meanwhile(w)
	w.Rest()
	w.Pass(time.Until(due) - moment)
	w.Rest()
	if n := len(w.running()); n != 0 {
		w.Fail("%d runs before %s", n, due.UTC())
	}
	w.Pass(moment)
	w.Rest()
	running := w.running()
	if len(running) != 1 {
		w.Fail("%d runs at %s", len(running), due.UTC())
	}
	w.end(running[0], true)
	w.Rest()
}
