package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"strings"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node/process"
)

// options are the flags of the command line.
type options struct {
	only         string
	runs         int
	pods         int
	parallelism  string
	jobs         int
	finished     int
	clusterPods  int
	clusterLarge int
	scheduled    int
	indexes      int
	latencies    int
	syncs        int
	stint        string
	against      string
	minutes      int
	largePods    int
	rounds       int
	roundPods    int
	dir          string
	cpuProfile   string
	memProfile   string
}

func main() {
	for _, other := range []func([]string) (bool, int){process.HostMain, store.ChildMain} {
		if handled, code := other(os.Args); handled {
			os.Exit(code)
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, parse()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

func parse() options {
	var o options
	flag.StringVar(&o.only, "only", byDefault, "the parts to run")
	flag.IntVar(&o.runs, "runs", 3, "runs a figure")
	flag.IntVar(&o.pods, "pods", 2000, "pods of the Jobs in parts a, b, i and k; half as many in part h")
	flag.StringVar(&o.parallelism, "parallelism", "8,32", "pods at a time in parts a and b")
	flag.IntVar(&o.jobs, "jobs", 1000, "Jobs in part c; half as many in part h")
	flag.IntVar(&o.finished, "finished", 30000, "finished pods in part e")
	flag.IntVar(&o.clusterPods, "cluster-pods", 1000, "pods of the first Job in part f; the second has half as many")
	flag.IntVar(&o.clusterLarge, "cluster-large", 4000, "pods of the large Job in part f")
	flag.IntVar(&o.scheduled, "schedules", 10000, "schedules that are due at once in part g")
	flag.IntVar(&o.indexes, "indexes", 10000, "indexes of the Job whose results part h reads")
	flag.IntVar(&o.latencies, "latencies", 300, "pods whose way from exit to status part d measures in a run")
	flag.IntVar(&o.syncs, "concurrent-job-syncs", 0, "as stint server's flag; 0 is its default")
	flag.StringVar(&o.stint, "stint", "bin/stint", "the binary that parts d, f, i, j and k measure")
	flag.StringVar(&o.against, "against", "", "another stint binary, which parts j and k show beside")
	flag.IntVar(&o.minutes, "minutes", 1, "how long part j runs CronJobs and Jobs with a TTL")
	flag.IntVar(&o.largePods, "large-pods", 20000, "pods of the Job whose first and last tenth part j compares")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds, each a Job that is deleted, of which part j compares the first and the last")
	flag.IntVar(&o.roundPods, "round-pods", 3000, "pods of a round")
	flag.StringVar(&o.dir, "dir", "", "where to keep the data of the runs (default the temporary directory)")
	flag.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of this process to a file")
	flag.StringVar(&o.memProfile, "memprofile", "", "write an allocation profile of this process to a file")
	flag.Parse()
	return o
}

func run(ctx context.Context, o options) (err error) {
	if err := quiet(); err != nil {
		return err
	}
	chosen, err := choose(o.only)
	if err != nil {
		return err
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	defer func() {
		for _, do := range b.atEnd {
			do()
		}
		err = errors.Join(err, os.RemoveAll(b.dir))
	}()
	stop, err := profile(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	b.printMachine()
	return b.runParts(ctx, chosen)
}

// bench is one call of the program and its scratch directory.
type bench struct {
	options
	atATime []int
	dir     string
	// part is the one that runs, and figures are those of all parts so far.
	part    string
	figures []figure
	// maxResults is that of the Job controller; nil is its default.
	maxResults *int
	// atEnd is done before the directory is removed.
	atEnd []func()
}

func newBench(o options) (*bench, error) {
	b := &bench{options: o}
	for word := range strings.SplitSeq(o.parallelism, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-parallelism %q: want numbers above 0, as in 8,32", o.parallelism)
		}
		b.atATime = append(b.atATime, n)
	}
	if min(o.runs, o.pods, o.jobs, o.largePods, o.rounds, o.roundPods) < 1 {
		return nil, errors.New("-runs, -pods, -jobs, -large-pods, -rounds and -round-pods must be above 0")
	}
	var err error
	b.dir, err = os.MkdirTemp(o.dir, "stint-bench-")
	return b, err
}

// profile starts the profiles that the options ask for, and returns the function that ends them.
func profile(o options) (stop func() error, err error) {
	stopCPU := func() error { return nil }
	if o.cpuProfile != "" {
		f, err := os.Create(o.cpuProfile)
		if err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return nil, err
		}
		stopCPU = func() error { pprof.StopCPUProfile(); return f.Close() }
	}
	return func() error { return errors.Join(stopCPU(), writeMemProfile(o.memProfile)) }, nil
}

func writeMemProfile(path string) error {
	if path == "" {
		return nil
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("allocs").WriteTo(f, 0), f.Close())
}
