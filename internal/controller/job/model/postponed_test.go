package model_test

import (
	"testing"
	"time"
)

func TestAPodKeepsItsFinalizerWhileTheStatusThatListsItIsPutOff(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().Parallelism(2).Completions(9).Obj())
		w.start(0, 0)
		w.RunUntilIdle()
		for _, name := range w.podNames() {
			w.run(w.pod(name))
			w.exit(w.pod(name), 0)
			w.RunUntilIdle()
			w.Pass(time.Millisecond)
			w.RunUntilIdle()
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
