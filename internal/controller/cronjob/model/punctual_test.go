package model_test

import (
	"testing"
	"time"

	"github.com/stint-dev/stint/test/simulated"
	"github.com/stint-dev/stint/test/wrappers"
)

// TestRunsStartWhenTheyAreDue expects each run at the exact instant, also if before that the controller sees all objects
// again or is replaced by another one. With a real clock a test can only expect "not before", as a slow machine is always late.
func TestRunsStartWhenTheyAreDue(t *testing.T) {
	const born = 17 * time.Second // When the CronJob is created, after a full minute.
	for sentence, c := range map[string]struct {
		cronJob *wrappers.CronJobWrapper
		// due is how long after the creation of the CronJob each run is due.
		due []time.Duration
	}{
		"each minute":                {aCronJob("* * * * *"), []time.Duration{43 * time.Second, 103 * time.Second, 163 * time.Second}},
		"each minute in a time zone": {aCronJob("* * * * *").TimeZone("America/St_Johns"), []time.Duration{43 * time.Second, 103 * time.Second}},
		"with a starting deadline":   {aCronJob("* * * * *").StartingDeadlineSeconds(1), []time.Duration{43 * time.Second, 103 * time.Second}},
		"every fifty seconds":        {aCronJob("@every 50s"), []time.Duration{50 * time.Second, 100 * time.Second, 150 * time.Second}},
		"every five hours":           {aCronJob("@every 5h1m"), []time.Duration{301 * time.Minute, 602 * time.Minute}},
	} {
		for how, meanwhile := range disturbances {
			t.Run(sentence+", "+how, func(t *testing.T) {
				why := simulated.Run(t, func(sw *simulated.World) {
					w := newWorld(sw)
					w.Pass(born)
					w.create(c.cronJob.Obj().DeepCopy())
					created := time.Now()
					w.start()
					w.RunUntilIdle()
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

// disturbances are what may happen to a controller before a run is due.
var disturbances = map[string]func(*world){
	"quiet": func(*world) {},
	"resynced": func(w *world) {
		for _, feed := range w.Processes[0].Feeds() {
			feed.Repeat()
		}
	},
	"relisted": func(w *world) {
		for _, feed := range w.Processes[0].Feeds() {
			feed.Relist()
		}
	},
	"replaced by another": func(w *world) {
		w.Stop(w.Processes[0])
		w.Recover(w.start)
	},
}

// expectRunAt expects a run to start at an instant, and none a moment before. It finishes the run at once.
func (w *world) expectRunAt(due time.Time, meanwhile func(*world)) {
	const moment = time.Millisecond
	w.Pass(time.Until(due) / 2)
	meanwhile(w)
	w.RunUntilIdle()
	w.Pass(time.Until(due) - moment)
	w.RunUntilIdle()
	if n := len(w.running()); n != 0 {
		w.Fail("%d runs before %s", n, due.UTC())
	}
	w.Pass(moment)
	w.RunUntilIdle()
	running := w.running()
	if len(running) != 1 {
		w.Fail("%d runs at %s", len(running), due.UTC())
	}
	w.end(running[0], true)
	w.RunUntilIdle()
}
