package crash

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stint-dev/stint/test/await"
)

// firstStartSteps are files in the order in which a first start creates them. A test waits for one of them before it
// kills the server, so that also on a slow machine all steps of the start are interrupted.
var firstStartSteps = []string{"lock", "etcd/member", "etcd/member/snap/db", "etcd/member/wal", "pki/ca.key"}

func TestAServerThatIsKilledInItsFirstStartStartsAgain(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		for range 2 * *crashKills {
			step := firstStartSteps[random.IntN(len(firstStartSteps))]
			s := &server{dir: t.TempDir()}
			s.launch(t)
			s.awaitFile(t, step)
			pause := time.Duration(random.Int64N(int64(15 * time.Millisecond)))
			time.Sleep(pause)
			s.signal(syscall.SIGKILL)
			t.Logf("killed %s after it had made %s", pause, step)
			s.start(t)
			s.signal(syscall.SIGTERM)
		}
	})
}

// awaitFile polls far more often than package await, since the next file follows within milliseconds.
func (s *server) awaitFile(t *testing.T, name string) {
	t.Helper()
	for limit := time.Now().Add(await.Limit); ; time.Sleep(100 * time.Microsecond) {
		if _, err := os.Lstat(filepath.Join(s.dir, name)); err == nil {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("not within %s: the server has made %s", await.Limit, name)
		}
	}
}
