package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/stint-dev/stint/test/kube"
)

// load is a Job to put on a cluster.
type load struct {
	name          string
	pods, atATime int
	// lasts is how long a pod runs.
	lasts time.Duration
	runs  int
}

func (b *bench) loads() []load {
	return []load{
		{"pods that end at once", b.clusterPods, 100, 0, b.runs},
		{"pods of 0.3 s", b.clusterPods / 2, 50, 300 * time.Millisecond, b.runs},
		{"a large Job", b.clusterLarge, min(b.clusterLarge, 500), 0, 1},
		{"a large Job", b.clusterLarge, min(b.clusterLarge, 1000), 0, 1},
	}
}

// onCluster is part f: each manager in turn, on the same kube-apiserver.
func (b *bench) onCluster(ctx context.Context) error {
	if os.Getenv(kube.Variable) == "" {
		fmt.Printf("\n(f) on a cluster: left out, %s does not name the folder that test/cluster/build prints\n", kube.Variable)
		return nil
	}
	cluster, err := kube.Start(ctx, kube.Options{Dir: b.dir + "/kube", Durable: true,
		APIServerFlags: []string{"--enable-priority-and-fairness=false", "--max-requests-inflight=0", "--max-mutating-requests-inflight=0"}})
	if err != nil {
		return err
	}
	defer cluster.Stop()
	for _, l := range b.loads() {
		if err := b.compare(ctx, cluster, l); err != nil {
			return err
		}
	}
	return nil
}

// compare runs the same load on all managers, by turns.
func (b *bench) compare(ctx context.Context, cluster *kube.Cluster, l load) error {
	all := map[string][]clusterResult{}
	for range l.runs {
		for _, m := range b.managers() {
			r, err := b.oneOnCluster(ctx, cluster, m, l)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", m.name, l.name, err)
			}
			all[m.name] = append(all[m.name], r)
		}
	}
	t := newTable(fmt.Sprintf("(f) %s: %d pods, %d at a time, on kube-apiserver", l.name, l.pods, l.atATime),
		"", "pods/s", "requests/pod", "manager's CPU ms/pod", "API server's", "first quarter", "last quarter", "peak RssAnon MB", "end to status p50 ms", "p99 ms")
	for _, m := range b.managers() {
		r := all[m.name]
		t.line(m.name, middle(r, clusterResult.rate), middle(r, clusterResult.writesEach), middle(r, clusterResult.cpuEach),
			middle(r, clusterResult.apiServerEach), middle(r, clusterResult.firstQuarter), middle(r, clusterResult.lastQuarter), middle(r, clusterResult.memory),
			middle(r, clusterResult.median), middle(r, clusterResult.worst))
	}
	t.print()
	b.judgeManagers(l, all[b.managers()[0].name], all[b.managers()[1].name])
	return nil
}

// manyAtATime is a parallelism above which the API server limits both managers.
const manyAtATime = 100

func (b *bench) judgeManagers(l load, theirs, ours []clusterResult) {
	judge := func(what string, f func(clusterResult) float64, a aim) {
		b.judgeBeside(fmt.Sprintf("%s, %d at a time: %s", l.name, l.atATime, what), middle(ours, f), middle(theirs, f), a)
	}
	if l.atATime > manyAtATime {
		judge("pods/s", clusterResult.rate, atLeast(1.15))
		judge("ms from end to status, p50", clusterResult.median, atMost(1))
		judge("ms from end to status, p99", clusterResult.worst, atMost(1))
	} else {
		judge("pods/s", clusterResult.rate, atLeast(2))
		judge("ms from end to status, p50", clusterResult.median, atMost(0.5))
		judge("ms from end to status, p99", clusterResult.worst, atMost(0.5))
	}
	judge("requests a pod", clusterResult.writesEach, atMost(1.05))
	judge("CPU ms a pod", clusterResult.cpuEach, atMost(0.7))
	judge("peak of memory, MB", clusterResult.memory, atMost(1))
}

// clusterResult is a result whose CPU time is the manager's, and whose writes are requests to the API server.
type clusterResult struct {
	result
	// quarters is the manager's CPU time at the start and when each quarter of the pods was counted.
	quarters  []time.Duration
	latencies []float64
	// apiServer is the CPU time of kube-apiserver.
	apiServer time.Duration
	// anonymous is the manager's highest RssAnon, in MB.
	anonymous float64
}

func (r clusterResult) memory() float64 { return r.anonymous }

func (r clusterResult) apiServerEach() float64 { return r.each(r.apiServer) }

func (r clusterResult) median() float64 { return percentile(r.latencies, 50) }
func (r clusterResult) worst() float64  { return percentile(r.latencies, 99) }

func (r clusterResult) firstQuarter() float64 { return r.quarterCPU(1) }
func (r clusterResult) lastQuarter() float64  { return r.quarterCPU(4) }

// quarterCPU is the CPU time of each pod of the nth quarter, in ms.
func (r clusterResult) quarterCPU(n int) float64 {
	if len(r.quarters) <= n {
		return 0
	}
	return float64((r.quarters[n] - r.quarters[n-1]).Microseconds()) / 1000 / (float64(r.things) / 4)
}

func middle(all []clusterResult, f func(clusterResult) float64) float64 {
	var values []float64
	for _, r := range all {
		values = append(values, f(r))
	}
	return percentile(values, 50)
}

func (b *bench) oneOnCluster(ctx context.Context, cluster *kube.Cluster, m manager, l load) (r clusterResult, err error) {
	config := cluster.Config()
	config.ContentType = "application/vnd.kubernetes.protobuf"
	set, err := kubernetes.NewForConfig(config)
	if err != nil {
		return r, err
	}
	d := newDriver(set, l)
	stop, err := d.start(ctx)
	if err != nil {
		return r, err
	}
	defer stop()
	p, err := m.start(cluster)
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, d.clear(context.WithoutCancel(ctx)))
		p.Stop()
	}()
	// A first small Job shows that the manager works, and warms all caches.
	if err := d.finish(ctx, p, noopJob("warm", 10, 10)); err != nil {
		return r, err
	}
	d.reset()
	peak, before := followAnonymous(ctx, p.PID()), cpuOf(cluster.APIServer().PID())
	r, err = d.measure(ctx, p, noopJob("noop", l.pods, l.atATime))
	r.anonymous, r.apiServer = peak(), cpuOf(cluster.APIServer().PID())-before
	return r, err
}
