// Package scenario holds what Jobs, CronJobs and ScheduledJobs must do, told as scenarios: create this, let its pods do
// that, expect these statuses, pods and events. Every scenario runs in three places, the columns:
//
//	column                    API server          controllers
//	stint server              stint server        its own                    in every test run
//	stint controller          kube-apiserver      Stint's, over the network  where STINT_CLUSTER is set
//	kube-controller-manager   kube-apiserver      upstream's: the reference  where STINT_CLUSTER is set
//
// A scenario that fails in the last column expects something wrong, unless it names the difference that is meant and
// why; those of ScheduledJobs, which are Stint's own, do not run there. A plain go test plays the first column, -run
// '^TestCluster' what needs a cluster, and -run Scenarios all three. Some dozens of a column run at the same time, each in a
// namespace of its own, before a scripted node:
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
// Schedules bring words of their own, and those above hold for the Jobs of their runs:
//
//	c := s.createCron(policy(Forbid))                  a CronJob, suspended; options change it
//	j := c.starts(minutesAgo(10))                      has the run of that time become due, and returns its Job
//	c.becomes(lists(j), lastScheduled(at))             as of Jobs; becomes, stays, tells and the like are the same
//	m := c.byHand("name")                              a Job as kubectl create job --from makes it
//	o := s.createScheduled(past(3), oneAtATime)        a ScheduledJob whose interval was over before its creation
//	o.fallDue()                                        has all its runs become due at the same time
//	o.succeeds(o.tag(0))                               waits for the first run to start, and has its pod succeed
//	o.ask("by-hand")                                   asks for a run
//	o.becomes(runs("running=by-hand completed=… count=2"))
//
// A run becomes due when the scenario says so, since the schedule of a CronJob is once a day, at a time that is past, and
// its status is said to be of the day before. Few scenarios wait for the clock.
//
// A scenario waits for what the history shows and never sleeps. That the controller leaves something alone is proven
// by a marker: another object of the kind, created later, that it has seen through to the end. Scenarios have no races:
// they wait until the controller has seen what it needs, and delays that must not end during a check start in the future.
// That something happens soon enough is tested with a simulated clock, in internal/controller/*/model. STINT_SCENARIO_TABLE names a file for the table of results.
package scenario
