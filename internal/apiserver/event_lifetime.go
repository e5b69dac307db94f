package apiserver

import (
	"sync"
	"time"
)

const (
	// maxEvents is about how many Events are kept. Beyond half of it new ones live shorter.
	maxEvents = 20000
	// minEventLifetime is how long an Event lives at least, so that users who watch or look at once see it.
	minEventLifetime = time.Minute
)

// eventLifetimes bounds the number of Events: the more there are, the shorter new ones live. That takes no write, as each
// expires by itself. It counts those of this server; others expire within the usual time.
type eventLifetimes struct {
	usual time.Duration
	now   func() time.Time

	mu sync.Mutex
	// expiring is how many Events expire in each minute (of Unix time) to come.
	expiring map[int64]int
	living   int
}

func newEventLifetimes(usual time.Duration, now func() time.Time) *eventLifetimes {
	return &eventLifetimes{usual: usual, now: now, expiring: map[int64]int{}}
}

// next returns the lifetime of a new Event.
func (l *eventLifetimes) next() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.expire(now)
	lifetime := lifetimeAmong(l.living, l.usual)
	l.living++
	l.expiring[now.Add(lifetime).Unix()/60]++
	return lifetime
}

func (l *eventLifetimes) expire(now time.Time) {
	for minute, n := range l.expiring {
		if minute < now.Unix()/60 {
			l.living -= n
			delete(l.expiring, minute)
		}
	}
}

// lifetimeAmong returns the lifetime of a new Event when so many are alive.
func lifetimeAmong(living int, usual time.Duration) time.Duration {
	free := min(maxEvents-living, maxEvents/2)
	return max(usual*time.Duration(free)/(maxEvents/2), minEventLifetime).Round(time.Second)
}
