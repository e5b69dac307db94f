package explain

import (
	"github.com/stint-dev/stint/internal/job"
)

// topics are all that can be told of a Job, each with what it is told from.
type topics struct {
	controller   controller
	deletion     deletion
	end          end
	verdict      verdict
	hold         hold
	suspension   suspension
	dependencies dependencies
	removal      removal
	refusal      refusal
	delay        delay
	terminating  terminatingPods
	pause        pause
	work         work
	waitingPods  waitingPods
	counting     counting
	outlook      outlook
}

func newTopics(a *job.Assessment, about Circumstances) *topics {
	w := newWork(a)
	idle := w.isIdle()
	t := &topics{
		controller:   newController(a, about.NoController),
		deletion:     deletion{job: a.Job, pods: a.Owned, dependents: about.Dependents},
		end:          end{job: a.Job, reasons: newReasons(a)},
		verdict:      newVerdict(a),
		hold:         hold{job: a.Job, holders: about.Holders},
		suspension:   suspension{job: a.Job, leaving: len(a.Active) + len(a.Terminating)},
		dependencies: dependencies{job: a.Job, awaited: a.UnmetDependencies},
		removal:      removal{pods: a.DeleteUncounted},
		refusal:      newRefusal(a, about),
		delay:        newDelay(a, idle),
		terminating:  terminatingPods{pods: a.Terminating, now: a.Now, replaced: idle && a.Wanted > 0},
		pause:        pause{job: a.Job, idle: idle},
		work:         w,
		waitingPods:  newWaitingPods(a, about),
		counting:     counting{pods: a.Uncounted, manager: job.ManagerOf(a.Job)},
	}
	t.outlook = outlook{Assessment: a, paused: t.pause.is(), left: w.left(), neverUnless: t.waitingPods.neverUnless()}
	return t
}
