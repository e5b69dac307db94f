package alarm_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"

	"github.com/stint-dev/stint/internal/alarm"
)

// rung notes the names of keys and when they rang, after the start of the test.
type rung struct {
	mu    sync.Mutex
	start time.Time
	all   []string
}

func (r *rung) note(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, fmt.Sprintf("%s %v", key.Name, time.Since(r.start)))
}

func (r *rung) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if diff := cmp.Diff(want, r.all); diff != "" {
		t.Errorf("rang (-want +got):\n%s", diff)
	}
	r.all = nil
}

func key(name string) types.NamespacedName { return types.NamespacedName{Namespace: "ns", Name: name} }

// run plays a test with an alarm that runs, in a time of its own.
func run(t *testing.T, test func(a *alarm.Alarm[types.NamespacedName], r *rung)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rung{start: time.Now()}
		a := alarm.New(r.note, clock.RealClock{})
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { a.Run(ctx) })
		test(a, r)
		stop()
		running.Wait()
	})
}

func TestAlarm(t *testing.T) {
	after := func(d time.Duration) time.Time { return time.Now().Add(d) }
	for sentence, test := range map[string]func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung){
		"each key rings at its time, once": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			a.Set(key("later"), after(90*time.Second))
			a.Set(key("sooner"), after(1500*time.Millisecond))
			a.Set(key("between"), after(time.Minute))
			time.Sleep(time.Hour)
			r.want(t, "sooner 1.5s", "between 1m0s", "later 1m30s")
		},
		"a time that has passed is now": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			a.Set(key("past"), after(-time.Hour))
			a.Set(key("now"), after(0))
			r.want(t, "past 0s", "now 0s")
		},
		"a new time replaces the old, later": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			a.Set(key("a"), after(time.Second))
			a.Set(key("a"), after(time.Minute))
			time.Sleep(time.Hour)
			r.want(t, "a 1m0s")
		},
		"a new time replaces the old, sooner": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			a.Set(key("a"), after(time.Minute))
			time.Sleep(10 * time.Second)
			a.Set(key("a"), after(100*time.Millisecond))
			time.Sleep(time.Hour)
			r.want(t, "a 10.1s")
		},
		"the zero time clears": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			a.Set(key("a"), after(time.Minute))
			a.Set(key("b"), after(time.Minute))
			a.Set(key("a"), time.Time{})
			a.Set(key("unknown"), time.Time{})
			time.Sleep(time.Hour)
			r.want(t, "b 1m0s")
		},
		"a key that has rung can be set again": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			a.Set(key("a"), after(time.Second))
			time.Sleep(time.Minute)
			a.Set(key("a"), after(time.Second))
			time.Sleep(time.Minute)
			r.want(t, "a 1s", "a 1m1s")
		},
		"keys of namespaces are apart": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			a.Set(types.NamespacedName{Namespace: "other", Name: "a"}, after(time.Second))
			a.Set(key("a"), after(2*time.Second))
			time.Sleep(time.Minute)
			r.want(t, "a 1s", "a 2s")
		},
		"what is set while it sleeps without a key rings": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			time.Sleep(24 * time.Hour)
			a.Set(key("a"), after(time.Millisecond))
			time.Sleep(time.Minute)
			r.want(t, "a 24h0m0.001s")
		},
		"days ahead it is still on time": func(t *testing.T, a *alarm.Alarm[types.NamespacedName], r *rung) {
			a.Set(key("a"), after(72*time.Hour+time.Millisecond))
			time.Sleep(100 * time.Hour)
			r.want(t, "a 72h0m0.001s")
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			run(t, func(a *alarm.Alarm[types.NamespacedName], r *rung) { test(t, a, r) })
		})
	}
}

func TestRingMaySetItsOwnKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		start, rings := time.Now(), 0
		var a *alarm.Alarm[types.NamespacedName]
		a = alarm.New(func(k types.NamespacedName) {
			if rings++; rings < 5 {
				a.Set(k, time.Now().Add(10*time.Second))
				return
			}
			stop()
		}, clock.RealClock{})
		a.Set(key("a"), start)
		a.Run(ctx)
		if took := time.Since(start); rings != 5 || took != 40*time.Second {
			t.Errorf("%d rings in %v", rings, took)
		}
	})
}

func TestTenThousandAtOnce(t *testing.T) {
	const n = 10_000
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		start, at := time.Now(), time.Now().Add(time.Hour)
		seen := map[types.NamespacedName]bool{}
		a := alarm.New(func(k types.NamespacedName) {
			seen[k] = true
			if late := time.Since(at); late != 0 {
				t.Errorf("%v rang %v after its time", k, late)
			}
			if len(seen) == n {
				stop()
			}
		}, clock.RealClock{})
		for i := range n {
			a.Set(key(fmt.Sprint(i)), start.Add(2*time.Hour))
			a.Set(key(fmt.Sprint(i)), at)
		}
		a.Run(ctx)
		if len(seen) != n {
			t.Errorf("%d rang", len(seen))
		}
	})
}

func TestAnAlarmThatIsStoppedIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		rings := 0
		a := alarm.New(func(types.NamespacedName) {
			rings++
			stop()
		}, clock.RealClock{})
		a.Set(key("a"), time.Now())
		a.Set(key("b"), time.Now())
		a.Run(ctx)
		if rings != 1 {
			t.Errorf("rang %d times", rings)
		}
	})
}

// What is set again and again costs nothing: the controllers set what they see, changed or not.
func TestSettingAgainAllocatesNothing(t *testing.T) {
	a := alarm.New(func(types.NamespacedName) {}, clock.RealClock{})
	keys := make([]types.NamespacedName, 10_000)
	at := time.Now().Add(time.Hour)
	for i := range keys {
		keys[i] = key(fmt.Sprint(i))
		a.Set(keys[i], at)
	}
	i := 0
	if allocated := testing.AllocsPerRun(1000, func() {
		a.Set(keys[i%len(keys)], at.Add(time.Duration(i)))
		i++
	}); allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}
