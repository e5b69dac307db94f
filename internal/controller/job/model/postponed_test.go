package model_test

import (
	"testing"
	"time"
)

func TestAPodKeepsItsFinalizerWhileTheStatusThatListsItIsPutOff(t *testing.T) {
	why := play(t, func(w *world) {
		w.createJob(aJob().Parallelism(2).Completions(9).Obj())
		w.start(0, 0)
		w.Rest()
		for _, name := range w.podNames() {
			w.run(w.pod(name))
			w.exit(w.pod(name), 0)
			w.Rest()
			w.Pass(time.Millisecond)
			w.Rest()
		}
		w.settle()
	})
	if why != nil {
		t.Fatal(why)
	}
}
