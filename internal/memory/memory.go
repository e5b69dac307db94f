// Package memory bounds the memory of long-lived processes.
//
//	Tune         how much garbage there may be, and that memory is returned after a load
//	Limit        a soft limit for all memory
//	DropStartup  pages of the program that only its start needed
package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

const (
	// quietInterval is the interval at which a process that allocates little returns memory to the system.
	quietInterval = 5 * time.Second
	// quietBytes is the most that a quiet process allocates in an interval.
	quietBytes = 4 << 20
	// worthReturning is the number of allocated bytes after which another collection is worth its time.
	worthReturning = 4 << 20
)

// Tune makes the garbage collector keep to a headroom that depends on the load, and returns memory to the system when the
// process is quiet. The headroom of a busy process is its live heap and busy. GOGC takes precedence. Only the first call has an
// effect, and it never stops, as it concerns the whole process.
func Tune(busy int64) {
	tuned.Do(func() {
		if os.Getenv("GOGC") != "" {
			return
		}
		c := &collector{last: time.Now(), busy: busy}
		c.set(minHeadroom)
		c.afterEachCollection()
		go c.returnWhenQuiet()
	})
}

var tuned sync.Once

// collector tunes the garbage collector of this process.
type collector struct {
	// busy is what Tune was given.
	busy int64

	mu       sync.Mutex
	last     time.Time
	headroom int64
}

// afterEachCollection adjusts the headroom after each garbage collection: the finalizer of an object that nothing refers to
// runs then.
func (c *collector) afterEachCollection() {
	runtime.SetFinalizer(&struct{ c *collector }{c}, func(*struct{ c *collector }) {
		c.collected(time.Now())
		c.afterEachCollection()
	})
}

func (c *collector) collected(now time.Time) {
	c.mu.Lock()
	since := now.Sub(c.last)
	c.last = now
	headroom := c.headroom
	c.mu.Unlock()
	c.set(nextHeadroom(headroom, int64(read(liveBytes)), c.busy, since))
}

func (c *collector) set(headroom int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headroom = headroom
	debug.SetGCPercent(gcPercent(headroom, int64(read(liveBytes))))
}

// returnWhenQuiet collects all garbage and returns the memory to the system whenever the process has become quiet.
func (c *collector) returnWhenQuiet() {
	before, returned := read(allocatedBytes), uint64(0)
	for range time.Tick(quietInterval) {
		allocated := read(allocatedBytes)
		if allocated-before < quietBytes && allocated-returned >= worthReturning {
			debug.FreeOSMemory()
			returned = read(allocatedBytes)
		}
		before = allocated
	}
}

// Names of runtime metrics.
const (
	liveBytes      = "/gc/heap/live:bytes"
	allocatedBytes = "/gc/heap/allocs:bytes"
)

// read returns the value of a runtime metric.
func read(name string) uint64 {
	sample := []metrics.Sample{{Name: name}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
