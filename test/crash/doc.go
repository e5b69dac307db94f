// Package crash kills a running stint server again and again, at random instants, and checks afterwards what ran.
//
//	people ── create, run ──► stint server ── starts ──► containers ── a line at start and end ──► ledger
//	                              ▲                                                                  │
//	                       SIGKILL, start                      every due time, exactly one run? ◄────┘
//
// The containers themselves write what happened, so that the check does not depend on what the server reports. The check
// is the one that Jepsen made for Chronos: every target time is met by exactly one run, not before, and there are no other
// runs. How late a run starts depends on the machine. That the controllers add no delay is tested by punctual_test.go of
// internal/controller/scheduledjob/model and internal/controller/cronjob/model.
//
//	go test ./test/crash                                 every seed of testdata/seeds
//	go test ./test/crash -crash.seed 7                   one seed
//	go test ./test/crash -crash.fresh -crash.kills 60    a new seed, and more kills
package crash
