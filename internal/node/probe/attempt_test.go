package probe_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/probe"
)

var t0 = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)

// every returns a probe with a period, that one result decides.
func every(period int32) *corev1.Probe {
	return &corev1.Probe{PeriodSeconds: period, TimeoutSeconds: 1, SuccessThreshold: 1, FailureThreshold: 1}
}

func with(p *corev1.Probe, change func(*corev1.Probe)) *corev1.Probe {
	change(p)
	return p
}

// replay runs the probes of an attempt for so many seconds. Script says for each kind of probe the results in order, a
// letter each (s success, f failure, u unknown); the last one stays. A probe takes the given time. The lines tell what
// happens when.
func replay(a *probe.Attempt, until int, takes time.Duration, script map[probe.Kind]string) []string {
	type run struct {
		kind probe.Kind
		ends time.Time
	}
	var running []run
	lines := []string{state(a)}
	say := func(now time.Time, what string) {
		lines = append(lines, fmt.Sprintf("%s %s", now.Sub(t0), what))
	}
	for now := t0; !now.After(t0.Add(time.Duration(until) * time.Second)); now = now.Add(500 * time.Millisecond) {
		running = slices.DeleteFunc(running, func(r run) bool {
			if now.Before(r.ends) {
				return false
			}
			before := state(a)
			a.Observe(r.kind, take(script, r.kind), now)
			if after := state(a); after != before {
				say(now, after)
			}
			return true
		})
		next := a.Next()
		due := a.Start(now)
		if isDue := !next.IsZero() && !next.After(now); isDue != (len(due) > 0) {
			say(now, fmt.Sprintf("BUG: next is %s, due %v", next, due))
		}
		for _, kind := range due {
			say(now, strings.ToLower(string(kind)))
			running = append(running, run{kind, now.Add(takes)})
		}
	}
	return lines
}

func take(script map[probe.Kind]string, kind probe.Kind) probe.Result {
	letters := script[kind]
	if len(letters) > 1 {
		script[kind] = letters[1:]
	}
	switch letters[:1] {
	case "s":
		return probe.Success
	case "f":
		return probe.Failure
	}
	return probe.Unknown
}

func state(a *probe.Attempt) string {
	if kind, failed := a.Failed(); failed {
		return string(kind) + " failed"
	}
	return fmt.Sprintf("started %t, ready %t", a.Started(), a.Ready())
}

func TestTimes(t *testing.T) {
	for what, tc := range map[string]struct {
		container corev1.Container
		script    map[probe.Kind]string
		takes     time.Duration
		until     int
		want      []string
	}{
		"liveness begins one period after the start": {
			container: corev1.Container{LivenessProbe: every(10)},
			script:    map[probe.Kind]string{probe.Liveness: "s"}, until: 35,
			want: []string{"started true, ready true", "10s liveness", "20s liveness", "30s liveness"},
		},
		"an initial delay leaves out ticks": {
			container: corev1.Container{LivenessProbe: with(every(10), func(p *corev1.Probe) { p.InitialDelaySeconds = 15 })},
			script:    map[probe.Kind]string{probe.Liveness: "s"}, until: 35,
			want: []string{"started true, ready true", "20s liveness", "30s liveness"},
		},
		"a tick at the end of the initial delay counts": {
			container: corev1.Container{LivenessProbe: with(every(10), func(p *corev1.Probe) { p.InitialDelaySeconds = 20 })},
			script:    map[probe.Kind]string{probe.Liveness: "s"}, until: 25,
			want: []string{"started true, ready true", "20s liveness"},
		},
		"liveness fails after failureThreshold failures in a row, and is not probed again": {
			container: corev1.Container{LivenessProbe: with(every(2), func(p *corev1.Probe) { p.FailureThreshold = 3 })},
			script:    map[probe.Kind]string{probe.Liveness: "ffsfff"}, until: 20,
			want: []string{"started true, ready true", "2s liveness", "4s liveness", "6s liveness", "8s liveness", "10s liveness",
				"12s liveness", "12.5s Liveness failed"},
		},
		"readiness is probed at once": {
			container: corev1.Container{ReadinessProbe: every(10)},
			script:    map[probe.Kind]string{probe.Readiness: "fs"}, until: 25,
			want: []string{"started true, ready false", "0s readiness", "10s readiness", "10.5s started true, ready true", "20s readiness"},
		},
		"readiness with an initial delay keeps the ticks of the start": {
			container: corev1.Container{ReadinessProbe: with(every(10), func(p *corev1.Probe) { p.InitialDelaySeconds = 5 })},
			script:    map[probe.Kind]string{probe.Readiness: "s"}, until: 15,
			want: []string{"started true, ready false", "10s readiness", "10.5s started true, ready true"},
		},
		"readiness comes and goes by its thresholds": {
			container: corev1.Container{ReadinessProbe: with(every(1), func(p *corev1.Probe) { p.SuccessThreshold, p.FailureThreshold = 2, 2 })},
			script:    map[probe.Kind]string{probe.Readiness: "sssffss"}, until: 6,
			want: []string{"started true, ready false", "0s readiness", "1s readiness", "1.5s started true, ready true", "2s readiness",
				"3s readiness", "4s readiness", "4.5s started true, ready false", "5s readiness", "6s readiness"},
		},
		"the other probes wait for the startup probe": {
			container: corev1.Container{StartupProbe: with(every(3), func(p *corev1.Probe) { p.FailureThreshold = 5 }),
				ReadinessProbe: every(10), LivenessProbe: every(4)},
			script: map[probe.Kind]string{probe.Startup: "ffs", probe.Readiness: "s", probe.Liveness: "s"}, until: 20,
			want: []string{"started false, ready false", "3s startup", "6s startup", "9s startup", "9.5s started true, ready false",
				"9.5s readiness", "10s started true, ready true", "12s liveness", "16s liveness", "19.5s readiness", "20s liveness"},
		},
		"the startup probe fails": {
			container: corev1.Container{StartupProbe: with(every(3), func(p *corev1.Probe) { p.FailureThreshold = 2 }), LivenessProbe: every(1)},
			script:    map[probe.Kind]string{probe.Startup: "f", probe.Liveness: "s"}, until: 20,
			want: []string{"started false, ready false", "3s startup", "6s startup", "6.5s Startup failed"},
		},
		"a probe that could not run does not count": {
			container: corev1.Container{LivenessProbe: with(every(1), func(p *corev1.Probe) { p.FailureThreshold = 2 })},
			script:    map[probe.Kind]string{probe.Liveness: "fuuf"}, until: 5,
			want: []string{"started true, ready true", "1s liveness", "2s liveness", "3s liveness", "4s liveness", "4.5s Liveness failed"},
		},
		"a probe that takes longer than its period runs again when it ends, and then at the next tick": {
			container: corev1.Container{LivenessProbe: every(2)},
			script:    map[probe.Kind]string{probe.Liveness: "s"}, takes: 2500 * time.Millisecond, until: 10,
			want: []string{"started true, ready true", "2s liveness", "4.5s liveness", "7s liveness", "9.5s liveness"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			takes := max(tc.takes, 500*time.Millisecond)
			got := replay(probe.Begin(&tc.container, t0), tc.until, takes, tc.script)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// half is the delay of the first probe after a restart of the node in these tests.
func half(period time.Duration) time.Duration { return period / 2 }

func TestResumedTimes(t *testing.T) {
	all := corev1.Container{StartupProbe: every(1), ReadinessProbe: every(4), LivenessProbe: every(10)}
	long := t0.Add(-time.Hour)
	for what, tc := range map[string]struct {
		container corev1.Container
		resumed   probe.Resumption
		startedAt time.Time
		want      []string
	}{
		"a ready container stays ready, and its probes begin within their periods": {
			container: all, resumed: probe.Resumption{Started: true, Ready: true}, startedAt: long,
			want: []string{"started true, ready true", "2s readiness", "5s liveness", "6s readiness"},
		},
		"a container that had not become ready becomes it by its probe": {
			container: all, resumed: probe.Resumption{Started: true}, startedAt: long,
			want: []string{"started true, ready false", "2s readiness", "2.5s started true, ready true", "5s liveness", "6s readiness"},
		},
		"a container that had not started is probed for that first": {
			container: all, startedAt: long,
			want: []string{"started false, ready false", "500ms startup", "1s started true, ready false", "1s readiness",
				"1.5s started true, ready true", "5s readiness", "5s liveness"},
		},
		"initial delays count from the start": {
			container: corev1.Container{LivenessProbe: with(every(2), func(p *corev1.Probe) { p.InitialDelaySeconds = 10 })},
			startedAt: t0.Add(-6 * time.Second),
			want:      []string{"started true, ready true", "5s liveness", "7s liveness"},
		},
	} {
		t.Run(what, func(t *testing.T) {
			tc.resumed.Now, tc.resumed.Delay = t0, half
			a := probe.Resume(&tc.container, tc.startedAt, tc.resumed)
			script := map[probe.Kind]string{probe.Startup: "s", probe.Readiness: "s", probe.Liveness: "s"}
			lines := replay(a, 8, 500*time.Millisecond, script)
			if diff := cmp.Diff(tc.want, lines); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestContainerWithoutProbes(t *testing.T) {
	a := probe.Begin(&corev1.Container{}, t0)
	if a != nil || probe.Resume(&corev1.Container{}, t0, probe.Resumption{Now: t0, Delay: half}) != nil {
		t.Fatal("there is something to follow")
	}
	if _, failed := a.Failed(); failed || !a.Started() || !a.Ready() || !a.Next().IsZero() || len(a.Start(t0)) != 0 {
		t.Error("it is not simply started and ready")
	}
	a.Observe(probe.Liveness, probe.Failure, t0)
}
