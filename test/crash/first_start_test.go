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

// firstStartSteps are files in the order in which a first start makes them. Its time is spread between them, however slow
// the machine is.
var firstStartSteps = []string{"lock", "etcd/member", "etcd/member/snap/db", "etcd/member/wal", "pki/ca.key"}

func TestAServerThatIsKilledInItsFirstStartStartsAgain(t *testing.T) {
	eachSeed(t, func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		for range 2 * *crashKills {
			step := firstStartSteps[random.IntN(len(firstStartSteps))]
			s := &server{dir: t.TempDir()}
			s.launch(t)
			await.Until(t, "the server to have made "+step, func() bool {
				_, err := os.Lstat(filepath.Join(s.dir, step))
				return err == nil
			})
			pause := time.Duration(random.Int64N(int64(40 * time.Millisecond)))
			time.Sleep(pause)
			s.signal(syscall.SIGKILL)
			t.Logf("killed %s after it had made %s", pause, step)
			s.start(t)
			s.signal(syscall.SIGTERM)
		}
	})
}
