package cluster_test

import (
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

const leaseNamespace = metav1.NamespaceDefault

// steadyLease returns flags for a lease so long that even a busy machine renews it in time. Tests end it by expire.
func steadyLease(name string) []string {
	return lease(name, "10m", "9m")
}

// stalledLease returns flags for a lease that expires while its leader is stopped.
func stalledLease(name string) []string {
	return lease(name, "40s", "35s")
}

func lease(name, duration, deadline string) []string {
	return []string{"--leader-elect-resource-namespace", leaseNamespace, "--leader-elect-resource-name", name,
		"--leader-elect-lease-duration", duration, "--leader-elect-renew-deadline", deadline, "--leader-elect-retry-period", "500ms"}
}

func TestClusterLeaderElection(t *testing.T) {
	c := kube.Shared(t)
	n := newNode(t, c)
	for name, play := range map[string]struct {
		lease func(name string) []string
		test  func(*testing.T, *pair)
	}{
		"a clean stop hands over":                             {steadyLease, cleanStop},
		"after a kill the standby goes on":                    {steadyLease, kill},
		"a stalled leader ends without another write":         {stalledLease, stall},
		"a stolen lease ends the leader":                      {steadyLease, steal},
		"a lease that was deleted is taken again":             {steadyLease, deleteLease},
		"a standby stops at once and leaves the lease alone":  {steadyLease, stopStandby},
		"the leader frees the lease when it stops in the end": {steadyLease, cleanEnd},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			id := strings.ReplaceAll(strings.ToLower(name), " ", "-")
			p := &pair{node: n, id: id, manager: "stint.dev/" + id}
			flags := append(play.lease(id), "--managed-by", p.manager)
			p.leader = controller(t, c, "", flags...)
			p.awaitLeading(t, p.leader)
			p.standby = controller(t, c, "", flags...)
			p.standby.awaitReady(t)
			p.standby.awaitLog(t, "leader=")
			play.test(t, p)
		})
	}
}

// pair is a leader and a standby for Jobs of their own.
type pair struct {
	*node
	id, manager     string
	leader, standby *stint
}

func (p *pair) awaitLeading(t *testing.T, s *stint) {
	t.Helper()
	await.Until(t, "the lease to be won", func() bool {
		status, _ := s.get("/readyz")
		_, metrics := s.get("/metrics")
		return status == http.StatusOK && strings.Contains(metrics, `leader_election_master_status{name="`+p.id+`"} 1`)
	})
}

// halfway starts a Job of 40 pods and returns when 15 of them have been counted.
func (p *pair) halfway(t *testing.T) {
	t.Helper()
	p.hold(p.id, 15)
	p.create(t, newJob(p.id, p.manager, size(40, 8)))
	p.awaitJob(t, p.id, "to be halfway", func(job *batchv1.Job) bool { return job.Status.Succeeded == 15 })
}

// holder returns the holder of the lease.
func (p *pair) holder(t *testing.T) string {
	t.Helper()
	lease, err := p.CoordinationV1().Leases(leaseNamespace).Get(t.Context(), p.id, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// give sets the holder of the lease.
func (p *pair) give(t *testing.T, holder string) {
	t.Helper()
	leases := p.CoordinationV1().Leases(leaseNamespace)
	await.Until(t, "the lease to be given to "+strconv.Quote(holder), func() bool {
		lease, err := leases.Get(t.Context(), p.id, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lease.Spec.HolderIdentity = &holder
		_, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{})
		return err == nil
	})
}

// expire shortens the lease of a killed leader to a second: the standby waits as long as the lease says.
func (n *node) expire(t *testing.T, lease string) {
	t.Helper()
	_, err := n.CoordinationV1().Leases(leaseNamespace).Patch(t.Context(), lease, types.MergePatchType,
		[]byte(`{"spec":{"leaseDurationSeconds":1}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func (p *pair) finish(t *testing.T) {
	t.Helper()
	p.letGo(t.Context(), p.id)
	p.awaitEnd(t, p.id)
	p.exact(t, p.id)
}

func cleanStop(t *testing.T, p *pair) {
	p.halfway(t)
	p.letGo(t.Context(), p.id) // the leader is to stop with many pods uncounted
	p.leader.signal(syscall.SIGTERM)
	if status := p.leader.exit(t); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	p.awaitLeading(t, p.standby)
	p.finish(t)
}

func kill(t *testing.T, p *pair) {
	p.halfway(t)
	p.letGo(t.Context(), p.id)
	p.leader.signal(syscall.SIGKILL)
	p.leader.exit(t)
	p.expire(t, p.id)
	p.awaitLeading(t, p.standby)
	p.finish(t)
}

func stall(t *testing.T, p *pair) {
	p.halfway(t)
	p.leader.signal(syscall.SIGSTOP)
	p.awaitLeading(t, p.standby)
	p.letGo(t.Context(), p.id)
	p.leader.signal(syscall.SIGCONT)
	if status := p.leader.exit(t); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	p.leader.awaitLog(t, "stint: lost the lease "+leaseNamespace+"/"+p.id)
	p.finish(t)
}

func steal(t *testing.T, p *pair) {
	p.halfway(t)
	p.give(t, "thief")
	if status := p.leader.exit(t); status != 1 {
		t.Errorf("exit status %d, want 1", status)
	}
	p.leader.awaitLog(t, "stint: lost the lease "+leaseNamespace+"/"+p.id+" to thief: ")
	p.give(t, "") // the thief releases the lease
	p.awaitLeading(t, p.standby)
	p.finish(t)
}

func deleteLease(t *testing.T, p *pair) {
	p.standby.signal(syscall.SIGKILL)
	p.halfway(t)
	if err := p.CoordinationV1().Leases(leaseNamespace).Delete(t.Context(), p.id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	await.Until(t, "the lease to be back", func() bool {
		_, err := p.CoordinationV1().Leases(leaseNamespace).Get(t.Context(), p.id, metav1.GetOptions{})
		return err == nil
	})
	p.finish(t)
}

func stopStandby(t *testing.T, p *pair) {
	before := p.holder(t)
	p.standby.signal(syscall.SIGTERM)
	if status := p.standby.exit(t); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	if after := p.holder(t); after != before || after == "" {
		t.Errorf("the lease went from %q to %q", before, after)
	}
}

func cleanEnd(t *testing.T, p *pair) {
	p.standby.signal(syscall.SIGKILL)
	p.leader.signal(syscall.SIGINT)
	if status := p.leader.exit(t); status != 0 {
		t.Errorf("exit status %d, want 0", status)
	}
	if holder := p.holder(t); holder != "" {
		t.Errorf("%s still holds the lease", holder)
	}
}
