package explain

import (
	"github.com/stint-dev/stint/internal/job"
)

// topics are all topics of an explanation, each with the facts that it needs.
type topics struct {
	controller      controller
	deletion        deletion
	end             end
	verdict         verdict
	concurrencyWait concurrencyWait
	suspension      suspension
	dependencies    dependencies
	scaleDown       scaleDown
	refusal         refusal
	needs           needs
	delay           delay
	terminating     terminatingPods
	zeroParallelism zeroParallelism
	activePods      activePods
	waitingPods     waitingPods
	uncountedPods   uncountedPods
	forecast        forecast
}

func newTopics(a *job.Assessment, about Circumstances) *topics {
	w := newActivePods(a, about)
	idle := w.isIdle()
	refusal := newRefusal(a, about)
	needs := newNeeds(a, about, refusal.applies())
	t := &topics{
		controller:      newController(a, about.NoController),
		deletion:        deletion{job: a.Job, pods: a.Owned, dependents: about.Dependents},
		end:             end{job: a.Job, reasons: newReasons(a)},
		verdict:         newVerdict(a),
		concurrencyWait: concurrencyWait{job: a.Job, holders: about.Holders},
		suspension:      suspension{job: a.Job, terminating: len(a.Active) + len(a.Terminating)},
		dependencies:    dependencies{job: a.Job, awaited: a.UnmetDependencies},
		scaleDown:       scaleDown{pods: a.DeleteWithoutCounting},
		refusal:         refusal,
		needs:           needs,
		delay:           newDelay(a, idle),
		terminating:     terminatingPods{pods: a.Terminating, now: a.Now, replaced: idle && a.Wanted > 0},
		zeroParallelism: zeroParallelism{job: a.Job, idle: idle},
		activePods:      w,
		waitingPods:     newWaitingPods(a, about, needs.lack()),
		uncountedPods:   uncountedPods{pods: a.Uncounted, manager: job.ManagerOf(a.Job)},
	}
	t.forecast = forecast{Assessment: a, paused: t.zeroParallelism.applies(), left: w.left(), remedyIfStuck: t.waitingPods.remedyIfStuck()}
	return t
}
