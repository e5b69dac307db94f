package cluster_test

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/google/go-cmp/cmp"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/kube"
)

const (
	manifests       = "../../deploy/stint.yaml"
	cronJobManifest = "../../deploy/cronjob.yaml"
	resultSlicesCRD = "../../deploy/crds/stint.dev_resultslices.yaml"
	stintUser       = "system:serviceaccount:stint-system:stint-controller"
)

// unseen are permissions that a quiet cluster may see no use of.
var unseen = map[string]string{
	"batch/jobs/finalizers update":              "is asked for by an admission plugin, and tested by taking it away",
	"stint.dev/scheduledjobs/finalizers update": "is asked for by an admission plugin, without which no run would be created",
	"batch/cronjobs/finalizers update":          "is asked for by an admission plugin, without which no run would be created",
	"stint.dev/resultslices get":                "is for slices that somebody else has changed",
	"stint.dev/resultslices list":               "is for Jobs that another process began",
	"stint.dev/resultslices delete":             "is for Jobs with more results than are kept",
	"/pods get":                                 "is for pods whose creation or change was answered, but not shown or not in time",
}

func TestDeployGrantsWhatIsUsedAndNothingElse(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	c := deployed(t, audit, resultSlicesCRD)
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
	compare(t, granted, func() []string { return used(t, audit) })
}

func TestDeployGrantsWhatCronJobsNeedAndNothingElse(t *testing.T) {
	audit := filepath.Join(t.TempDir(), "audit.log")
	c := deployed(t, audit, cronJobManifest)
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
		return slices.DeleteFunc(used(t, audit), func(permission string) bool { return slices.Contains(others, permission) })
	})
}

// listAnew runs a controller as on an API server that cannot stream what there is, and is asked for lists instead.
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

// compare waits until what is used is what is granted: the API server may write down that it has answered after it has.
func compare(t *testing.T, granted []string, used func() []string) {
	t.Helper()
	seldom := func(permission string) bool { return unseen[permission] != "" }
	granted = slices.DeleteFunc(granted, seldom)
	diff := ""
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		diff = cmp.Diff(granted, slices.DeleteFunc(used(), seldom))
		return diff == "", nil
	})
	if err != nil {
		t.Errorf("granted (-) and used (+), %v:\n%s", err, diff)
	}
}

// runSchedules has runs created and, when there are too many, deleted.
func runSchedules(t *testing.T, s *schedules) {
	t.Helper()
	s.makeTemplate(t, "pods")
	s.make(t, newScheduledJob("scheduled", "R3//PT1S", func(s *stintv1.ScheduledJobSpec) {
		s.TemplateRef, s.Template = &corev1.LocalObjectReference{Name: "pods"}, nil
		s.SuccessfulJobsHistoryLimit = ptr.To[int32](0)
	}))
	s.awaitStatus(t, "scheduled", "to end", func(s *stintv1.ScheduledJobStatus) bool {
		return s.NextScheduleTime == nil && len(s.CompletedExecutions)+int(s.SkippedCount) == 3
	})
	await(t, "the Jobs to be deleted", func(context.Context) (bool, error) { return len(s.jobsOf(t, "scheduled")) == 0, nil })
}

// runCronJobs has a run created and deleted, and another one held and released.
func runCronJobs(t *testing.T, n *node) {
	t.Helper()
	n.createCronJob(t, newCronJob("scheduled", func(s *batchv1.CronJobSpec) {
		s.ConcurrencyPolicy = batchv1.ForbidConcurrent
		s.SuccessfulJobsHistoryLimit = ptr.To[int32](0)
	}))
	n.due(t, "scheduled")
	n.awaitCronJob(t, "scheduled", "to have run", func(c *batchv1.CronJob) bool {
		return c.Status.LastSuccessfulTime != nil && len(c.Status.Active) == 0
	})
	n.patchCronJob(t, "scheduled", `{"spec":{"suspend":true}}`)
	n.hold("first", 0)
	n.hold("second", 0) // its pod may come before it is held
	n.trigger(t, "scheduled", "first")
	n.awaitCronJob(t, "scheduled", "to list the first run", func(c *batchv1.CronJob) bool { return len(c.Status.Active) == 1 })
	n.trigger(t, "scheduled", "second")
	n.awaitEvent(t, "scheduled", "RunHeld", "second")
	n.letGo(t.Context(), "first")
	n.awaitEvent(t, "scheduled", "RunReleased", "second")
	n.letGo(t.Context(), "second")
	await(t, "the Jobs to be deleted", func(ctx context.Context) (bool, error) {
		list, err := n.BatchV1().Jobs(namespace).List(ctx, metav1.ListOptions{})
		return err == nil && len(list.Items) == 0, err
	})
}

func TestPeopleMayHaveScheduledJobsWhereTheyMayHaveJobs(t *testing.T) {
	c := deployed(t, filepath.Join(t.TempDir(), "audit.log"))
	s := newSchedules(t, c)
	manager, err := c.StartControllerManager("clusterrole-aggregation-controller")
	if err != nil {
		t.Fatal(err)
	}
	defer manager.Kill()
	for _, role := range roles {
		user, name := "has-"+role, "for-"+role
		s.make(t, newScheduledJob(name, ""))
		binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: user},
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}}
		if _, err := s.RbacV1().RoleBindings(namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		kubeconfig, err := c.Kubeconfig(user)
		if err != nil {
			t.Fatal(err)
		}
		may := func(args ...string) bool {
			return stintCommand(append(args, "--kubeconfig", kubeconfig)...).Run() == nil
		}
		await(t, user+" to see ScheduledJobs", func(context.Context) (bool, error) { return may("get", "scheduledjob", name), nil })
		runNow := func(context.Context) (bool, error) {
			return may("patch", "scheduledjob", name, "--subresource=status", "--type=merge", "-p", `{"status":{"pendingExecutions":[{"tag":"now"}]}}`), nil
		}
		if role != "view" {
			await(t, user+" to run one now", runNow)
		} else if done, _ := runNow(t.Context()); done {
			t.Errorf("%s may run one", user)
		}
	}
}

// roles are those that Kubernetes has for people.
var roles = []string{"admin", "edit", "view"}

func TestPodsMayWaitForTheirJobOnlyWithTheRightToFinalizeJobs(t *testing.T) {
	c := deployed(t, filepath.Join(t.TempDir(), "audit.log"))
	n := newNode(t, c)
	roles := n.RbacV1().ClusterRoles()
	role, err := roles.Get(t.Context(), "stint-controller", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	whole := role.DeepCopy()
	role.Rules = slices.DeleteFunc(role.Rules, func(r rbacv1.PolicyRule) bool { return slices.Contains(r.Resources, "jobs/finalizers") })
	if _, err := roles.Update(t.Context(), role, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	s := controller(t, c, stintUser, "--leader-elect=false")
	s.awaitReady(t)
	n.create(t, newJob("refused", jobcontroller.ManagedBy))
	n.awaitEvent(t, "refused", "FailedCreate", "cannot set blockOwnerDeletion")
	whole.ResourceVersion = ""
	if _, err := roles.Update(t.Context(), whole, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.awaitEnd(t, "refused")
}

func TestDeploymentIsAllowedInItsNamespace(t *testing.T) {
	n := newNode(t, deployed(t, filepath.Join(t.TempDir(), "audit.log")))
	deployment, err := n.AppsV1().Deployments("stint-system").Get(t.Context(), "stint-controller", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	template := deployment.Spec.Template
	template.ObjectMeta.Name = "one"
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	if _, err := n.CoreV1().Pods("stint-system").Create(t.Context(), pod, dry); err != nil {
		t.Error(err)
	}
	// It is stint that must understand the arguments.
	args := append(template.Spec.Containers[0].Args, "--kubeconfig", "none.yaml")
	out, err := stintCommand(args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "none.yaml") {
		t.Errorf("stint %s: %s, %v, want it to miss none.yaml only", strings.Join(args, " "), out, err)
	}
}

// deployed is a cluster with the manifests, one that is as strict as OpenShift about who may own pods.
func deployed(t *testing.T, audit string, more ...string) *kube.Cluster {
	t.Helper()
	policy := filepath.Join(filepath.Dir(audit), "policy.yaml")
	text := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata, users: ['" + stintUser + "']}]\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := kube.ForTest(t, kube.Options{Users: []string{stintUser, "has-admin", "has-edit", "has-view"}, APIServerFlags: []string{
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		"--audit-policy-file=" + policy, "--audit-log-path=" + audit, "--audit-log-mode=blocking"}})
	kubeconfig, err := c.Kubeconfig("")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append([]string{manifests}, more...) {
		if out, err := stintCommand("apply", "--kubeconfig", kubeconfig, "--validate=strict", "-f", file).CombinedOutput(); err != nil {
			t.Fatalf("applying %s: %s", file, out)
		}
	}
	return c
}

// suspendTwice has pods deleted, and an event repeated.
func suspendTwice(t *testing.T, n *node) {
	t.Helper()
	n.hold("paused", 0)
	n.create(t, newJob("paused", jobcontroller.ManagedBy))
	for range 2 {
		n.suspend(t, true)
		n.suspend(t, false)
	}
	n.letGo(t.Context(), "paused")
	n.awaitEnd(t, "paused")
}

func (n *node) suspend(t *testing.T, pause bool) {
	t.Helper()
	n.awaitJob(t, "paused", "to run or rest", func(job *batchv1.Job) bool { return (job.Status.Active > 0) == pause })
	patch := `{"spec":{"suspend":` + map[bool]string{true: "true", false: "false"}[pause] + `}}`
	_, err := n.BatchV1().Jobs(namespace).Patch(t.Context(), "paused", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// getStuck has a pod failed, as it does not start.
func getStuck(t *testing.T, n *node) {
	t.Helper()
	n.hold("stuck", 0)
	job := newJob("stuck", jobcontroller.ManagedBy, func(s *batchv1.JobSpec) {
		s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action:          batchv1.PodFailurePolicyActionFailJob,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{{Type: core.PendingTimeout, Status: corev1.ConditionTrue}},
		}}}
	})
	job.Annotations = map[string]string{core.PendingTimeoutSeconds: "1"}
	n.create(t, job)
	n.awaitEvent(t, "stuck", core.PendingTimeoutReason, "no node has taken the pod")
	n.awaitJob(t, "stuck", "to fail by its policy", func(job *batchv1.Job) bool {
		return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobFailed && c.Reason == batchv1.JobReasonPodFailurePolicy
		})
	})
}

// adopt gives a Job a pod that was there before it. No pod ends before that: the Job might end without it. A Job that
// knows of it late has a pod of its own, and may delete the one that it adopts.
func adopt(t *testing.T, n *node) {
	t.Helper()
	labels := map[string]string{"app": "adopted"}
	job := newJob("adopts", jobcontroller.ManagedBy, func(s *batchv1.JobSpec) {
		s.ManualSelector = ptr.To(true)
		s.Selector = &metav1.LabelSelector{MatchLabels: labels}
		s.Template.Labels = labels
	})
	const unlabelled = "" // With a selector of people nobody adds labels.
	n.hold(unlabelled, 0)
	orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orphan", Labels: labels}, Spec: *job.Spec.Template.Spec.DeepCopy()}
	if _, err := n.CoreV1().Pods(namespace).Create(t.Context(), orphan, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.create(t, job)
	await(t, "the pod to be adopted", func(ctx context.Context) (bool, error) {
		pod, err := n.CoreV1().Pods(namespace).Get(ctx, "orphan", metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && metav1.GetControllerOf(pod) != nil, nil
	})
	n.letGo(t.Context(), unlabelled)
	n.awaitEnd(t, "adopts")
}

func rules(t *testing.T, n *node, role string) []rbacv1.PolicyRule {
	t.Helper()
	cluster, err := n.RbacV1().ClusterRoles().Get(t.Context(), role, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return cluster.Rules
}

// permissions lists what rules allow, as GROUP/RESOURCE VERB.
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

// used lists, in the same way, what the API server was asked for; what it refused is marked.
func used(t *testing.T, audit string) []string {
	t.Helper()
	text, err := os.ReadFile(audit)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for line := range bytes.Lines(text) {
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
			continue // such as /version, which everybody may read
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
