package remote_test

import (
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"sync/atomic"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

func pemOf(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// faultCase is a bad connection: which faults occur, and how often.
type faultCase struct {
	name string
	// writes and watches map a fault to n if one of n requests has this fault.
	writes, watches map[fault]int
}

var faultCases = []faultCase{
	{"requests get lost", map[fault]int{lostRequest: 5}, map[fault]int{lostRequest: 3}},
	{"answers get lost", map[fault]int{lostAnswer: 5, lateAnswer: 7}, nil},
	{"answers never end", map[fault]int{noAnswer: 29, halfAnswer: 31}, nil},
	{"the server is busy", map[fault]int{busy: 61, turnedAway: 11, slow: 5}, map[fault]int{turnedAway: 3}},
	{"the server is broken", map[fault]int{broken: 11, unavailable: 7}, map[fault]int{broken: 3}},
	{"watches break and cannot be taken up", nil, map[fault]int{cutStream: 2, tooOld: 3}},
	{"everything at once",
		map[fault]int{lostRequest: 13, lostAnswer: 17, turnedAway: 19, broken: 23, unavailable: 29, slow: 31},
		map[fault]int{lostRequest: 7, cutStream: 2, tooOld: 5}},
}

func TestJobsEndExactlyOverABadConnection(t *testing.T) {
	playFaultCases(t, overTheNetwork(t, startServer(t)))
}

func TestClusterEndsJobsExactlyOverABadConnection(t *testing.T) {
	playFaultCases(t, kube.Shared(t).Config())
}

func playFaultCases(t *testing.T, config *rest.Config) {
	for _, s := range faultCases {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.run(t, config)
		})
	}
}

// faults returns a function that chooses the fault of each request.
func (s faultCase) faults() func(*http.Request) fault {
	var writes, watches atomic.Int64
	return func(r *http.Request) fault {
		odds, count := s.writes, &writes
		if r.Method == http.MethodGet && r.URL.Query().Get("watch") != "" {
			odds, count = s.watches, &watches
		}
		n := int(count.Add(1))
		for f := lostRequest; f <= cutStream; f++ {
			if every := odds[f]; every > 0 && n%every == every-1 {
				return f
			}
		}
		return none
	}
}

func (s faultCase) run(t *testing.T, config *rest.Config) {
	w := newWorld(t, config)
	p := startProxy(t, config, s.faults())
	through := p.config()
	through.BearerToken = config.BearerToken
	w.startController(through)

	w.createJobs()
	w.expectJobs()
	for f := range s.writes {
		if p.count(f) == 0 {
			t.Errorf("fault %d never came about", f)
		}
	}
}

func TestClusterEndsJobsExactlyWhenTheAPIServerDiesAndComesBack(t *testing.T) {
	cluster := kube.Shared(t)
	w := newWorld(t, cluster.Config())
	w.startController(cluster.Config())
	w.createJobs()
	await.Until(t, "that some pods are made", func() bool { return w.made() > 5 })
	cluster.RestartAPIServer(t)
	w.expectJobs()
}

// createJobs makes two Jobs, and expectJobs waits for their end.
func (w *world) createJobs() {
	w.Helper()
	w.create("counted", func(s *batchv1.JobSpec) { s.Completions, s.Parallelism = ptr.To[int32](40), ptr.To[int32](10) })
	w.create("indexed", func(s *batchv1.JobSpec) {
		s.Completions, s.Parallelism = ptr.To[int32](30), ptr.To[int32](30)
		s.CompletionMode = ptr.To(batchv1.IndexedCompletion)
	})
}

func (w *world) expectJobs() {
	w.Helper()
	for name, pods := range map[string]int32{"counted": 40, "indexed": 30} {
		j := w.untilComplete(name)
		failed := w.failedOf(j.UID)
		if j.Status.Succeeded != pods || int(j.Status.Failed) != failed {
			w.Errorf("%s: %d pods succeeded and %d failed, want %d and %d", name, j.Status.Succeeded, j.Status.Failed, pods, failed)
		}
		if made := w.podsOf(j.UID); made != int(pods)+failed {
			w.Errorf("%s: %d pods were made, want %d", name, made, int(pods)+failed)
		}
	}
	w.untilReleased()
}
