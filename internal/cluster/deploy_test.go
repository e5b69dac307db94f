package cluster_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobcontroller "github.com/stint-dev/stint/internal/controller/job"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/kube"
)

const (
	manifests       = "../../deploy/stint.yaml"
	cronJobManifest = "../../deploy/cronjob.yaml"
	resultSlicesCRD = "../../deploy/crds/stint.dev_resultslices.yaml"
	stintUser       = "system:serviceaccount:stint-system:stint-controller"
)

// All manifests are tested on one cluster. That of CronJobs is applied after the rights without it have been compared.
func TestClusterWithTheManifests(t *testing.T) {
	c, audit := strict(t)
	deploy(t, c, manifests, resultSlicesCRD)
	t.Run("they grant what is used and nothing else", func(t *testing.T) { grantsWhatIsUsed(t, c, audit) })
	t.Run("they grant what CronJobs need and nothing else", func(t *testing.T) {
		deploy(t, c, cronJobManifest)
		grantsWhatCronJobsNeed(t, c, audit)
	})
	t.Run("people may have ScheduledJobs where they may have Jobs", func(t *testing.T) { peopleMayHaveScheduledJobs(t, c) })
	t.Run("pods may wait for their Job only with the right to finalize Jobs", func(t *testing.T) { podsMayWaitForTheirJob(t, c) })
	t.Run("the Deployment is allowed in its namespace", func(t *testing.T) { deploymentIsAllowed(t, c) })
}

// runSchedules makes the controller create runs, and delete them because of the history limit.
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
	await.Until(t, "the Jobs to be deleted", func() bool { return len(s.jobsOf(t, "scheduled")) == 0 })
}

// runCronJobs makes the controller create and delete a run, and hold and resume another one.
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
	n.hold("second", 0) // its pod may be created before the Job is held
	n.trigger(t, "scheduled", "first")
	n.awaitCronJob(t, "scheduled", "to list the first run", func(c *batchv1.CronJob) bool { return len(c.Status.Active) == 1 })
	n.trigger(t, "scheduled", "second")
	n.awaitEvent(t, "scheduled", "RunHeld", "second")
	n.letGo(t.Context(), "first")
	n.awaitEvent(t, "scheduled", "RunReleased", "second")
	n.letGo(t.Context(), "second")
	await.Until(t, "the Jobs to be deleted", func() bool {
		list, err := n.BatchV1().Jobs(n.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return len(list.Items) == 0
	})
}

func peopleMayHaveScheduledJobs(t *testing.T, c *kube.Cluster) {
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
		if _, err := s.RbacV1().RoleBindings(s.namespace).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		kubeconfig, err := c.Kubeconfig(user)
		if err != nil {
			t.Fatal(err)
		}
		may := func(args ...string) bool {
			return stintCommand(append(args, "--kubeconfig", kubeconfig, "-n", s.namespace)...).Run() == nil
		}
		await.Until(t, user+" to see ScheduledJobs", func() bool { return may("get", "scheduledjob", name) })
		runNow := func() bool {
			return may("patch", "scheduledjob", name, "--subresource=status", "--type=merge", "-p", `{"status":{"pendingExecutions":[{"tag":"now"}]}}`)
		}
		if role != "view" {
			await.Until(t, user+" to run one now", runNow)
		} else if runNow() {
			t.Errorf("%s may run one", user)
		}
	}
}

// roles are Kubernetes' ClusterRoles for users.
var roles = []string{"admin", "edit", "view"}

func podsMayWaitForTheirJob(t *testing.T, c *kube.Cluster) {
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

func deploymentIsAllowed(t *testing.T, c *kube.Cluster) {
	n := newNode(t, c)
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
	// The arguments must be valid for stint.
	args := append(template.Spec.Containers[0].Args, "--kubeconfig", "none.yaml")
	out, err := stintCommand(args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "none.yaml") {
		t.Errorf("stint %s: %s, %v, want it to miss none.yaml only", strings.Join(args, " "), out, err)
	}
}

// strict returns a cluster with OwnerReferencesPermissionEnforcement, as on OpenShift, and the audit log of Stint's requests.
func strict(t *testing.T) (*kube.Cluster, *auditLog) {
	t.Helper()
	dir := t.TempDir()
	audit, policy := filepath.Join(dir, "audit.log"), filepath.Join(dir, "policy.yaml")
	text := "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata, users: ['" + stintUser + "']}]\n"
	if err := os.WriteFile(policy, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c := kube.ForTest(t, kube.Options{Users: []string{stintUser, "has-admin", "has-edit", "has-view"}, APIServerFlags: []string{
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",
		"--audit-policy-file=" + policy, "--audit-log-path=" + audit, "--audit-log-mode=blocking"}})
	return c, &auditLog{path: audit}
}

func deploy(t *testing.T, c *kube.Cluster, files ...string) {
	t.Helper()
	kubeconfig, err := c.Kubeconfig("")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if out, err := stintCommand("apply", "--kubeconfig", kubeconfig, "--validate=strict", "-f", file).CombinedOutput(); err != nil {
			t.Fatalf("applying %s: %s", file, out)
		}
	}
}

// suspendTwice makes the controller delete pods and repeat an event.
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
	_, err := n.BatchV1().Jobs(n.namespace).Patch(t.Context(), "paused", types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// getStuck makes the controller fail a pod that does not start.
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
	n.awaitEvent(t, "stuck", core.PendingTimeoutReason, "the pod is not bound to a node yet")
	n.awaitJob(t, "stuck", "to fail by its policy", func(job *batchv1.Job) bool {
		return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
			return c.Type == batchv1.JobFailed && c.Reason == batchv1.JobReasonPodFailurePolicy
		})
	})
}

// adopt makes a Job adopt a pod that was created before it. No pod terminates before that, as the Job might complete without
// it. If the controller observes the pod late, it has created another one, and may delete the adopted one.
func adopt(t *testing.T, n *node) {
	t.Helper()
	labels := map[string]string{"app": "adopted"}
	job := newJob("adopts", jobcontroller.ManagedBy, func(s *batchv1.JobSpec) {
		s.ManualSelector = ptr.To(true)
		s.Selector = &metav1.LabelSelector{MatchLabels: labels}
		s.Template.Labels = labels
	})
	const unlabelled = "" // With manualSelector the pods have no label job-name.
	n.hold(unlabelled, 0)
	orphan := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "orphan", Labels: labels}, Spec: *job.Spec.Template.Spec.DeepCopy()}
	if _, err := n.CoreV1().Pods(n.namespace).Create(t.Context(), orphan, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.create(t, job)
	await.Until(t, "the pod to be adopted", func() bool {
		pod, err := n.CoreV1().Pods(n.namespace).Get(t.Context(), "orphan", metav1.GetOptions{})
		return apierrors.IsNotFound(err) || err == nil && metav1.GetControllerOf(pod) != nil
	})
	n.letGo(t.Context(), unlabelled)
	n.awaitEnd(t, "adopts")
}
