package node

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/stint-dev/stint/internal/localvolume"
	"github.com/stint-dev/stint/internal/node/diskpressure"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/internal/persistentvolume"
)

// namesPatience is how long a report of disk pressure waits for the names of what takes the space.
const namesPatience = time.Second

// largest finds out which pods and claims take most of a disk under pressure. Only run of disk calls it.
type largest struct {
	// measure returns what the pods and claims take.
	measure func(context.Context) []diskpressure.Holder
	// warn records a warning about a pod.
	warn func(pod types.UID, reason, message string)

	// named are the largest, as the Node's condition names them.
	named []diskpressure.Holder
	// told are the named pods that have got their event.
	told sets.Set[types.UID]
	// running delivers the result of the measurement that runs; nil if none does. The next one begins at due.
	running chan measurement
	due     time.Time
	ended   sync.WaitGroup
}

type measurement struct {
	holders []diskpressure.Holder
	took    time.Duration
}

// names returns the end of the condition's message, without waiting long for a measurement.
func (l *largest) names(ctx context.Context, size int64) string {
	if l.running == nil && !time.Now().Before(l.due) {
		l.begin(ctx)
	}
	if l.running == nil {
		return diskpressure.Names(l.named)
	}
	patience := time.NewTimer(namesPatience)
	defer patience.Stop()
	select {
	case m := <-l.running:
		l.running, l.due = nil, time.Now().Add(measureRest*m.took)
		l.named = diskpressure.Largest(l.named, m.holders, size)
	case <-patience.C:
	}
	return diskpressure.Names(l.named)
}

func (l *largest) begin(ctx context.Context) {
	result := make(chan measurement, 1)
	l.running = result
	l.ended.Go(func() {
		began := time.Now()
		holders := l.measure(ctx)
		result <- measurement{holders, time.Since(began)}
	})
}

// tell records an event about each pod that is named, once while the pressure lasts.
func (l *largest) tell() {
	for _, h := range l.named {
		if h.Kind == diskpressure.Pod && !l.told.Has(h.UID) {
			l.told.Insert(h.UID)
			l.warn(h.UID, "DiskPressure", "the disk of the node is full, and this pod is one of the largest there: "+h.Text())
		}
	}
}

// forget forgets what was named, as the pressure has ended.
func (l *largest) forget() { l.named, l.told = nil, sets.New[types.UID]() }

// diskHolders measures all pods, and the claims of provisioned volumes.
type diskHolders struct {
	diskMeter
	pods    *pods
	volumes localvolume.Dir
	// list lists the PersistentVolumes.
	list func() []*corev1.PersistentVolume
}

func (d *diskHolders) measure(ctx context.Context) (holders []diskpressure.Holder) {
	if !d.runtime.Info().CanMeasure {
		return nil
	}
	for _, uid := range d.pods.uids() {
		p := d.pods.get(uid)
		if p == nil || ctx.Err() != nil {
			continue
		}
		if api, running := p.holding(); api != nil {
			holders = append(holders, d.pod(ctx, api, running))
		}
	}
	return append(holders, d.claims(ctx)...)
}

// holding returns the pod, and its containers that run.
func (p *pod) holding() (*corev1.Pod, []runtime.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.api, p.runningIDs()
}

func (d *diskHolders) pod(ctx context.Context, api *corev1.Pod, running []runtime.ID) diskpressure.Holder {
	h := diskpressure.Holder{Kind: diskpressure.Pod, Namespace: api.Namespace, Name: api.Name, UID: api.UID}
	usage, err := d.usageOf(ctx, api, running)
	if err != nil {
		warn(ctx, "measure the disk usage of a pod", err, "pod", api.Namespace+"/"+api.Name)
		return h
	}
	for _, kind := range []struct {
		before, after string
		sizes         map[string]int64
	}{
		{"emptyDir ", "", usage.EmptyDirs},
		{"files of container ", " outside volumes", usage.Roots},
		{"logs of container ", "", usage.Logs},
	} {
		for _, name := range slices.Sorted(maps.Keys(kind.sizes)) {
			h.Parts = append(h.Parts, diskpressure.Part{What: kind.before + name + kind.after, Bytes: kind.sizes[name]})
		}
	}
	return h
}

func (d *diskHolders) claims(ctx context.Context) (holders []diskpressure.Holder) {
	var dirs []string
	for _, pv := range d.list() {
		if !persistentvolume.IsLocal(pv) || pv.Spec.ClaimRef == nil {
			continue
		}
		dir, err := d.volumes.Find(pv.Name)
		if err != nil {
			continue
		}
		dirs = append(dirs, dir)
		holders = append(holders, diskpressure.Holder{Kind: diskpressure.Claim, Namespace: pv.Spec.ClaimRef.Namespace,
			Name: pv.Spec.ClaimRef.Name, UID: pv.Spec.ClaimRef.UID})
	}
	if len(dirs) == 0 {
		return nil
	}
	usage, err := d.runtime.Measure(ctx, nil, dirs)
	if err != nil {
		warn(ctx, "measure the claims", err)
		return nil
	}
	for i, bytes := range usage.Dirs {
		holders[i].Parts = []diskpressure.Part{{Bytes: bytes}}
	}
	return holders
}

func (n *Node) persistentVolumes() (list []*corev1.PersistentVolume) {
	for _, obj := range n.Client.PersistentVolumes().Informer().GetStore().List() {
		list = append(list, obj.(*corev1.PersistentVolume))
	}
	return list
}
