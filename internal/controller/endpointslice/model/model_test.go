// Package model_test drives the real controller through random histories on a simulated API server (test/simulated): requests
// are refused, lost, or carried out without an answer; watches are late, each kind on its own; the controller is killed between
// any two writes, or replaced by another; users create and delete Services, and pods come, become ready and go.
//
//	go test ./internal/controller/endpointslice/model                      a few hundred histories, always the same ones
//	go test ./internal/controller/endpointslice/model -rapid.checks=25000  many histories
package model_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/simulated"
)

func TestMain(m *testing.M) { simulated.Main(m, 300) }

func TestAnyHistory(t *testing.T) {
	simulated.Check(t, func(sw *simulated.World, r *rapid.T) {
		w := newWorld(sw)
		w.start()
		r.Repeat(w.Actions(w.start,
			simulated.Action{Times: 3, Name: "service", Do: w.createService},
			simulated.Action{Times: 4, Name: "pod", Do: w.createPod},
			simulated.Action{Times: 4, Name: "node", Do: w.nodeActs},
			simulated.Action{Times: 2, Name: "delete", Do: w.deleteOne},
			simulated.Action{Times: 2, Name: "user", Do: w.userActs}))
		w.Recover(w.start)
		w.RunUntilIdle()
		w.Pass(2 * time.Minute)
		w.RunUntilIdle()
		w.check()
		written := w.written
		w.Pass(time.Hour)
		w.RunUntilIdle()
		if w.written != written {
			w.Fail("slices are written although nothing has changed")
		}
	})
}
