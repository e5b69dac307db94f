package probe

import (
	"time"

	corev1 "k8s.io/api/core/v1"
)

// track follows one probe.
type track struct {
	kind Kind
	spec *corev1.Probe
	// notBefore is when initialDelaySeconds are over.
	notBefore time.Time
	// anchor and the period give the ticks, of which next is the one to run at.
	anchor, next time.Time
	running      bool
	// decided: the probe does not run again in this attempt.
	decided bool
	// inForce is the result that counts. The newest result and how many there were of it in a row may differ from it.
	inForce, newest Result
	row             int32
}

func newTrack(kind Kind, spec *corev1.Probe, startedAt time.Time) *track {
	t := &track{kind: kind, spec: spec, notBefore: startedAt.Add(seconds(spec.InitialDelaySeconds)), anchor: startedAt}
	t.next = startedAt.Add(t.period())
	return t
}

func (t *track) period() time.Duration { return max(seconds(t.spec.PeriodSeconds), time.Second) }

func seconds(n int32) time.Duration { return time.Duration(n) * time.Second }

// restart lets the ticks begin at a time, which is one of them.
func (t *track) restart(at time.Time) { t.anchor, t.next = at, at }

// due is when the probe runs next.
func (t *track) due() time.Time {
	if t.next.Before(t.notBefore) {
		return t.tickFrom(t.notBefore)
	}
	return t.next
}

// tickFrom returns the first tick that is not before a time.
func (t *track) tickFrom(at time.Time) time.Time {
	past := at.Sub(t.anchor)
	if past <= 0 {
		return t.anchor
	}
	period := t.period()
	return t.anchor.Add((past + period - 1) / period * period)
}

// skipTo leaves out the ticks up to a time.
func (t *track) skipTo(now time.Time) { t.next = t.tickFrom(now.Add(1)) }

// observe counts a result. It reports whether a threshold is reached, so that the result counts from now on.
func (t *track) observe(r Result) (reached bool) {
	if r != t.newest {
		t.newest, t.row = r, 0
	}
	t.row++
	threshold := t.spec.SuccessThreshold
	if r == Failure {
		threshold = t.spec.FailureThreshold
	}
	if t.row < threshold {
		return false
	}
	t.inForce = r
	return true
}
