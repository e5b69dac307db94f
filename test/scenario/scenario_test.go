package scenario_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stint-dev/stint/test/kube"
)

// scenario is a story and its outcome.
type scenario struct {
	// name is a sentence.
	name string
	play func(*scene)
	// slow is set where the scenario waits long for the clock. It starts first.
	slow bool
	// restarts is set where the scenario stops or restarts the controller.
	restarts bool
	// alone is set where no other scenario may stop the reference meanwhile: upstream never recovers a CronJob whose
	// status it could not write after it had made the Job.
	alone bool
	// notOn names columns where the scenario cannot run, and why.
	notOn map[string]string
	// differs says how Stint differs from upstream, and why. Then upstream, where set, is what the reference plays
	// instead.
	differs  string
	upstream func(*scene)
}

// all is every scenario. Each file adds its own list.
func all() []scenario {
	return slices.Concat(
		completionScenarios,
		parallelismScenarios,
		backoffScenarios,
		deadlineScenarios,
		endingScenarios,
		countingScenarios,
		claimScenarios,
		deletionScenarios,
		statusScenarios,
		indexedScenarios,
		elasticScenarios,
		perIndexScenarios,
		podFailurePolicyScenarios,
		successPolicyScenarios,
		podReplacementScenarios,
		suspendScenarios,
		mutableTemplateScenarios,
		managedByScenarios,
		combinationScenarios,
		eventScenarios,
		notOnReference(askedBackoffScenarios, ownAnnotation),
		notOnReference(failedPodsLimitScenarios, ownAnnotation),
		notOnReference(pendingTimeoutScenarios, ownAnnotation),
		notOnReference(dependsOnScenarios, ownAnnotation),
		notOnReference(annotationScenarios, ownAnnotation),
		notOnReference(resultsScenarios, ownKind),
		cronRunScenarios,
		cronPolicyScenarios,
		cronLifeScenarios,
		cronMinuteScenarios,
		cronManualScenarios,
		notOnReference(scheduledRunScenarios, ownKind),
		notOnReference(scheduledQueueScenarios, ownKind),
		notOnReference(scheduledHandScenarios, ownKind),
		notOnReference(scheduledLifeScenarios, ownKind),
	)
}

func TestMain(m *testing.M) { kube.Main(m, kube.Options{}) }

func TestScenarios(t *testing.T) {
	defer results.print(t)
	playAll(t, newServerColumn(t))
}

func TestClusterScenarios(t *testing.T) {
	cluster := startCluster(t)
	defer results.print(t)
	t.Run(onReference, func(t *testing.T) { playAll(t, newReferenceColumn(t, cluster)) })
	t.Run(onCluster, func(t *testing.T) { playAll(t, newClusterColumn(t, cluster, nil)) })
}

// playAll plays the scenarios of a column, first those that do not stop the controller.
func playAll(t *testing.T, c *column) {
	rounds := [][]scenario{{}, {}}
	for _, s := range all() {
		switch {
		case s.alone && c.reference:
			rounds = append(rounds, []scenario{s})
		case s.restarts:
			rounds[1] = append(rounds[1], s)
		case s.slow:
			rounds[0] = slices.Insert(rounds[0], 0, s)
		default:
			rounds[0] = append(rounds[0], s)
		}
	}
	for _, round := range rounds {
		playTogether(round, func(s scenario) { playOne(t, c, s) })
	}
}

// together is how many scenarios are played at the same time. Most of them wait most of the time; but hundreds at once
// overload a small machine, and the event queue of kube-controller-manager, which has room for 1000.
const together = 24

func playTogether(scenarios []scenario, play func(scenario)) {
	var playing sync.WaitGroup
	places := make(chan struct{}, together)
	for _, s := range scenarios {
		places <- struct{}{}
		playing.Go(func() {
			defer func() { <-places }()
			play(s)
		})
	}
	playing.Wait()
}

func playOne(t *testing.T, c *column, s scenario) {
	play, differs := s.play, c.reference && s.differs != ""
	if differs {
		play = s.upstream
	}
	if why := s.notOn[c.name]; why != "" || play == nil {
		results.set(s.name, c.name, result{outcome: notRun})
		return
	}
	start, played := time.Now(), false
	ok := t.Run(s.name, func(t *testing.T) {
		played = true
		sc := newScene(t, c)
		sc.losesEvents = s.restarts && c.reference
		sc.run(play)
	})
	if !played {
		return // -run asks for others
	}
	r := result{outcome: passed, took: time.Since(start), differs: differs}
	if !ok {
		r.outcome = failedIt
	}
	results.set(s.name, c.name, r)
}

// Why scenarios are not for the reference.
const (
	ownKind       = "the kind is Stint's own"
	ownAnnotation = "the annotation is Stint's own"
)

// notOnReference excludes scenarios from the reference, which does not have the feature that they are about.
func notOnReference(list []scenario, why string) []scenario {
	list = slices.Clone(list)
	for i := range list {
		list[i].notOn = map[string]string{onReference: why}
	}
	return list
}
