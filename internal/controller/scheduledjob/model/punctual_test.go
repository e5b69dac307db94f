package model_test

import (
	"testing"
	"time"

	"github.com/stint-dev/stint/test/simulated"
)

// TestRunsStartWhenTheyAreDue expects each run at the exact instant, also if before that the controller sees all objects
// again or is replaced by another one. With a real clock a test can only expect "not before", as a slow machine is always late.
func TestRunsStartWhenTheyAreDue(t *testing.T) {
	const born = 17 * time.Second                          // When the ScheduledJob is created, after midnight.
	for timeSpec, due := range map[string][]time.Duration{ // After the creation.
		"R//PT1S":                     {0, time.Second, 2 * time.Second, 3 * time.Second},
		"R3//PT10S":                   {0, 10 * time.Second, 20 * time.Second},
		"R//PT1H":                     {0, time.Hour, 2 * time.Hour},
		"R2/2000-01-01T06:00:00Z/P1D": {6*time.Hour - born, 30*time.Hour - born},
		"@every 50s":                  {50 * time.Second, 100 * time.Second, 150 * time.Second},
		"* * * * *":                   {43 * time.Second, 103 * time.Second, 163 * time.Second},
		"30 4 * * *":                  {4*time.Hour + 30*time.Minute - born, 28*time.Hour + 30*time.Minute - born},
	} {
		for how, meanwhile := range disturbances {
			t.Run(timeSpec+", "+how, func(t *testing.T) {
				why := simulated.Run(t, func(sw *simulated.World) {
					w := newWorld(sw)
					w.Pass(born)
					w.create(scheduledJob(timeSpec, spec{keepAll: true, complete: 100}))
					created := time.Now()
					w.start()
					for _, after := range due {
						w.expectRunAt(created.Add(after), meanwhile)
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
	if left := time.Until(due); left > 0 {
		w.Pass(left / 2)
		meanwhile(w)
		w.RunUntilIdle()
		w.Pass(time.Until(due) - moment)
		w.RunUntilIdle()
		if n := len(w.unfinished()); n != 0 {
			w.Fail("%d runs before %s", n, due.UTC())
		}
		w.Pass(moment)
	}
	w.RunUntilIdle()
	running := w.unfinished()
	if len(running) != 1 {
		w.Fail("%d runs at %s", len(running), due.UTC())
	}
	w.end(running[0], 0)
	w.RunUntilIdle()
}
