package store

import (
	"context"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"k8s.io/apiserver/pkg/storage/etcd3"
	"k8s.io/utils/clock"
)

const (
	// compactInterval is the interval of compactions: revisions older than one to two intervals are dropped. A client
	// that lists in pages or watches from an older one has to start over. kube-apiserver's five minutes would take
	// gigabytes at thousands of writes per second.
	compactInterval     = time.Minute
	maintenanceInterval = time.Minute

	// A defragmentation blocks all writes while it copies the used pages, so it is done only if it frees much space.
	defragMinBytes = 128 << 20
	defragMinWaste = 2 // size of the database, as a multiple of its used part
)

// maintenance does the upkeep that etcd leaves to an operator: compaction, defragmentation, disarming the space alarm.
type maintenance struct {
	client    *clientv3.Client
	log       *zap.Logger
	compactor interface {
		etcd3.Compactor
		Stop()
	}
	// defragment is the method of the etcd server. The client's would end the process, because this etcd serves no gRPC.
	defragment func() error
	cancel     context.CancelFunc
	done       chan struct{}
}

func startMaintenance(client *clientv3.Client, defragment func() error, log *zap.Logger) *maintenance {
	ctx, cancel := context.WithCancel(context.Background())
	m := &maintenance{client: client, defragment: defragment, log: log, cancel: cancel, done: make(chan struct{})}
	m.compactor = etcd3.NewCompactor(client, compactInterval, clock.RealClock{}, nil)
	go m.run(ctx)
	return m
}

func (m *maintenance) stop() {
	m.cancel()
	<-m.done
	m.compactor.Stop()
}

func (m *maintenance) run(ctx context.Context) {
	defer close(m.done)
	ticker := time.NewTicker(maintenanceInterval)
	defer ticker.Stop()
	for {
		if err := m.once(ctx); err != nil && ctx.Err() == nil {
			m.log.Warn("maintenance of the store failed; it will be retried", zap.Error(err))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (m *maintenance) once(ctx context.Context) error {
	status, err := m.client.Status(ctx, "")
	if err != nil {
		return err
	}
	if worthDefragmenting(status.DbSize, status.DbSizeInUse) {
		if err := m.defragment(); err != nil {
			return err
		}
	}
	return m.disarmSpaceAlarm(ctx)
}

func worthDefragmenting(size, inUse int64) bool {
	return size >= defragMinBytes && size >= defragMinWaste*inUse
}

// disarmSpaceAlarm allows writes again if the database had reached its quota and has room now.
func (m *maintenance) disarmSpaceAlarm(ctx context.Context) error {
	status, err := m.client.Status(ctx, "")
	if err != nil || status.DbSize >= quotaBytes {
		return err
	}
	alarms, err := m.client.AlarmList(ctx)
	if err != nil {
		return err
	}
	for _, alarm := range alarms.Alarms {
		if alarm.Alarm != etcdserverpb.AlarmType_NOSPACE {
			continue
		}
		if _, err := m.client.AlarmDisarm(ctx, &clientv3.AlarmMember{MemberID: alarm.MemberID, Alarm: alarm.Alarm}); err != nil {
			return err
		}
	}
	return nil
}
