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
// A scenario waits for what the history shows and never sleeps. That the controller leaves something alone is proven
// by a marker: another Job, created later, that it has seen through to the end.
package scenario
