// Package model_test drives the real controllers of claims and volumes, with their core, through random histories on a
// simulated API server (test/simulated): requests are refused, lost, or carried out without an answer; watches are late, each
// kind on its own; the controllers are killed between any two writes, or replaced by others; users create and delete claims and
// volumes, and pods use claims. The clock is that of synctest.
//
//	go test ./internal/controller/persistentvolume/model                      a few hundred histories, always the same ones
//	go test ./internal/controller/persistentvolume/model -rapid.checks=25000  many histories
//	go test ./internal/controller/persistentvolume/model -rapid.seed=N        the history that failed, again
package model_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/stint-dev/stint/test/simulated"
)

func TestMain(m *testing.M) { simulated.Main(m, 300) }

func TestAnyHistory(t *testing.T) {
	simulated.Check(t, func(sw *simulated.World, r *rapid.T) {
		w := newWorld(sw)
		w.start()
		actions := w.actions()
		actions[""] = func(*rapid.T) { w.checkBroken() }
		r.Repeat(actions)
		w.finishAll()
	})
}
