package cluster_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

// unseen are permissions that the test may not use, with the reason.
var unseen = map[string]string{
	"batch/jobs/finalizers update":              "is asked for by an admission plugin, and tested by taking it away",
	"stint.dev/scheduledjobs/finalizers update": "is asked for by an admission plugin, without which no run would be created",
	"batch/cronjobs/finalizers update":          "is asked for by an admission plugin, without which no run would be created",
	"stint.dev/resultslices get":                "is for slices that somebody else has changed",
	"stint.dev/resultslices list":               "is for Jobs that another process began",
	"stint.dev/resultslices delete":             "is for Jobs with more results than are kept",
	"/pods get":                                 "is for pods whose creation or change was answered, but not shown or not in time",
}

func grantsWhatIsUsed(t *testing.T, c *kube.Cluster, audit *auditLog) {
	schedules := newSchedules(t, c)
	n := schedules.node
	flags := []string{"--leader-elect-resource-namespace", "stint-system"}
	s := controller(t, c, stintUser, flags...)
	s.awaitReady(t)
	n.create(t, newJob("whole", jobcontroller.ManagedBy, size(5, 2)))
	n.awaitEnd(t, "whole")
	suspendTwice(t, n)
	adopt(t, n)
	getStuck(t, n)
	runSchedules(t, schedules)
	s.signal(syscall.SIGTERM)
	if status := s.exit(t); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	listAnew(t, c, flags...)

	own, err := n.RbacV1().Roles("stint-system").Get(t.Context(), "stint-controller", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	granted := permissions(append(rules(t, n, "stint-controller"), own.Rules...))
	compare(t, granted, func() []string { return audit.used(t) })
}

func grantsWhatCronJobsNeed(t *testing.T, c *kube.Cluster, audit *auditLog) {
	audit.skip(t)
	n := newNode(t, c)
	flags := []string{"--leader-elect=false", "--controllers=job,cronjob"}
	s := controller(t, c, stintUser, flags...)
	s.awaitReady(t)
	runCronJobs(t, n)
	s.signal(syscall.SIGTERM)
	if status := s.exit(t); status != 0 {
		t.Fatalf("exit status %d", status)
	}
	listAnew(t, c, flags...)

	others := permissions(rules(t, n, "stint-controller"))
	compare(t, permissions(rules(t, n, "stint-controller-cronjob")), func() []string {
		return slices.DeleteFunc(audit.used(t), func(permission string) bool { return slices.Contains(others, permission) })
	})
}

// listAnew runs a controller without WatchList, as on an older API server, so that the permission list is used.
func listAnew(t *testing.T, c *kube.Cluster, flags ...string) {
	t.Helper()
	t.Setenv("KUBE_FEATURE_WatchListClient", "false")
	s := controller(t, c, stintUser, flags...)
	s.awaitReady(t)
	s.signal(syscall.SIGTERM)
	if status := s.exit(t); status != 0 {
		t.Fatalf("exit status %d", status)
	}
}

// compare waits until the used permissions are the granted ones: the API server may write to the audit log after its response.
func compare(t *testing.T, granted []string, used func() []string) {
	t.Helper()
	seldom := func(permission string) bool { return unseen[permission] != "" }
	granted = slices.DeleteFunc(granted, seldom)
	diff := ""
	await.Until(t, "what is used (+) to be what is granted (-)", func() bool {
		diff = cmp.Diff(granted, slices.DeleteFunc(used(), seldom))
		return diff == ""
	}, func() string { return diff })
}

func rules(t *testing.T, n *node, role string) []rbacv1.PolicyRule {
	t.Helper()
	cluster, err := n.RbacV1().ClusterRoles().Get(t.Context(), role, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster.Rules
}

// permissions lists what the rules allow, as GROUP/RESOURCE VERB.
func permissions(rules []rbacv1.PolicyRule) []string {
	set := map[string]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					set[group+"/"+resource+" "+verb] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// auditLog is the audit log of the API server, without the part that was skipped.
type auditLog struct {
	path    string
	skipped int
}

func (a *auditLog) text(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(a.path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (a *auditLog) skip(t *testing.T) { a.skipped = len(a.text(t)) }

// used lists the permissions of all requests in the same way. Refused ones have the decision appended.
func (a *auditLog) used(t *testing.T) []string {
	t.Helper()
	set := map[string]bool{}
	for line := range bytes.Lines(a.text(t)[a.skipped:]) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		var event struct {
			Verb        string
			ObjectRef   *struct{ APIGroup, Resource, Subresource string }
			Annotations map[string]string
		}
		if err := json.Unmarshal(line, &event); err != nil {
			t.Fatal(err)
		}
		if event.ObjectRef == nil {
			continue // such as /version, which needs no permission
		}
		permission := event.ObjectRef.APIGroup + "/" + event.ObjectRef.Resource
		if event.ObjectRef.Subresource != "" {
			permission += "/" + event.ObjectRef.Subresource
		}
		permission += " " + event.Verb
		if decision := event.Annotations["authorization.k8s.io/decision"]; decision != "allow" {
			permission += " " + decision
		}
		set[permission] = true
	}
	return slices.Sorted(maps.Keys(set))
}
