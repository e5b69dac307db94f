// Package crash kills a running stint server again and again, at random instants, and checks afterwards what ran.
//
//	people ── create, run ──► stint server ── starts ──► containers ── a line at start and end ──► ledger
//	                              ▲                                                                  │
//	                       SIGKILL, start                      every due time, exactly one run? ◄────┘
//
// The containers themselves write what happened, so that nothing depends on what the server believes. The check is the
// one that Jepsen made for Chronos: every target time is met by exactly one run within an allowed delay, and there are
// no other runs. Time in which the server was down does not count as delay.
//
//	go test ./test/crash -crash.for 5m -crash.seed 1
package crash
