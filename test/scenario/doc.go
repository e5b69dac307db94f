// Package scenario holds what a Job must do, told as scenarios: create this, let its pods do that, expect these
// statuses, pods and events. Every scenario runs in three places, the columns:
//
//	column                    API server          Job controller
//	stint server              stint server        its own                    in every test run
//	stint controller          kube-apiserver      Stint's, over the network  where STINT_CLUSTER is set
//	kube-controller-manager   kube-apiserver      upstream's: the reference  where STINT_CLUSTER is set
//
// A scenario that fails in the last column expects something wrong, unless it names the difference that is meant and
// why. All scenarios of a column run at the same time, each in a namespace of its own, before a scripted node:
//
//	scenario ── create, update, delete ──► API server ◄── status ── scripted node ◄── scenario
//	    ▲                                      │
//	    └──── history: every change, in order ─┘   judged by the invariants, whatever the scenario is about
//
// A scenario is a sentence and a function of a few words:
//
//	j := s.create(aJob(pods(2, 1), backoffLimit(0)))   a Job; options change it
//	p := j.active(1).run()                             waits for exactly one active pod, and starts it
//	p.fail(1)                                          ends it; a pod that was told to end goes only then
//	j.becomes(failed(1), failedBecause("…"))           waits until all of this holds at once
//	j.stays(failed(1))                                 and it still does when the controller has provably looked
//	j.tells("SuccessfulCreate", "BackoffLimitExceeded")  the reasons of all its events, in order
//
// A scenario waits for what the history shows and never sleeps. That the controller leaves something alone is proven
// by a marker: another Job, created later, that it has seen through to the end. Nothing may depend on who is faster: what
// a controller must know before it is asked for more, the scenario waits for, and delays that must not end while it looks
// start in the future. STINT_SCENARIO_TABLE names a file for the table of results.
package scenario
