package explain

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/podneeds"
	"github.com/stint-dev/stint/test/wrappers"
)

func explanationsOfBeginnings() map[string]explanation {
	withDependencies := func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{
			{Type: job.DependsOnCondition + "extract", Status: corev1.ConditionFalse, Reason: "Running", Message: "Job extract has not ended", LastTransitionTime: at(2)},
			{Type: job.DependsOnCondition + "clean", Status: corev1.ConditionTrue, Reason: "Failed", Message: "Job clean has failed", LastTransitionTime: at(2)},
		}
	}
	held := aNewJob().Suspend(true).Annotation(job.HeldAnnotation, "2023-11-14T22:13:25.000000000Z").
		OwnerReferences(metav1.OwnerReference{Kind: "CronJob", Name: "nightly", Controller: ptr.To(true)})
	suspended := func() *wrappers.JobWrapper {
		return concluded(batchv1.JobSuspended, "JobSuspended", "Job suspended").Suspend(true).NoStartTime()
	}
	return map[string]explanation{
		"no controller has seen it": explained(stintv1.JobNotSeen, aNewJob()),
		"it is new": explained(stintv1.JobStarting, aNewJob()).with(func(o *job.Observation, _ *Circumstances) {
			o.Now = epoch.Add(time.Second)
		}),
		"it is explained without a server": explained(stintv1.JobStarting, aJob(), aPod("a")).with(func(_ *job.Observation, c *Circumstances) {
			c.NoController = true
		}),
		"the completion mode is unknown":      explained(stintv1.JobUnknownMode, aNewJob().CompletionMode(batchv1.CompletionMode("Sorted"))),
		"another controller has made no pods": explained(stintv1.JobUnknownPlan, aNewJob().ManagedBy("kueue.x-k8s.io/multikueue")),
		"another controller runs it": explained(stintv1.JobRunning, aJob().ManagedBy("kueue.x-k8s.io/multikueue"),
			aPod("a").Running(), aPod("b").Exited(1, at(55))),
		"the concurrency policy holds it": explained(stintv1.JobHeld, held).with(func(_ *job.Observation, c *Circumstances) {
			c.Holders = []string{"job nightly-1"}
		}),
		"its pods are gated": explained(stintv1.JobPodsWaiting, aJob(), aPod("a").Conditions(corev1.PodCondition{Type: corev1.PodScheduled,
			Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated, Message: "Scheduling is blocked due to non-empty scheduling gates"})),
		"it waits for other Jobs": explained(stintv1.JobWaitingForJobs, aNewJob().Annotation(job.DependsOn, "extract, clean=Finished").With(withDependencies)),
		"it is suspended": explained(stintv1.JobSuspended, suspended().With(
			withManager("kubectl-patch", `{"f:spec":{"f:suspend":{}}}`, 48), withManager("stint", `{"f:spec":{"f:parallelism":{}}}`, 59))),
		"it is suspended and its pods still end": explained(stintv1.JobSuspended, suspended(), aPod("a").Running().With(ending(50, 30)).NodeName("n1")),
		"it is paused":                           explained(stintv1.JobPaused, aJob().Parallelism(0).With(withManager("kubectl-scale", `{"f:spec":{"f:parallelism":{}}}`, 20))),
		"the server refuses its pods": explained(stintv1.JobCreationRefused, aJob()).with(func(o *job.Observation, c *Circumstances) {
			c.Events = []corev1.Event{refusedEvent(`Error creating: pods "j-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`)}
			o.NextCreateAt = epoch.Add(65 * time.Second)
		}),
		"a cluster refuses its pods": explained(stintv1.JobCreationRefused, aJob()).with(func(_ *job.Observation, c *Circumstances) {
			c.Events = []corev1.Event{refusedEvent(`Error creating: admission webhook "policy.example.com" denied the request`)}
			c.TimesAssumed = true
		}),
	}
}

func explanationsOfWork() map[string]explanation {
	perIndex := func() *wrappers.JobWrapper { return aJob().Indexed().BackoffLimitPerIndex(3).MaxFailedIndexes(2) }
	return map[string]explanation{
		"pods run": explained(stintv1.JobRunning, aJob().ActiveDeadlineSeconds(600),
			aPod("a").Running(), aPod("b").Exited(0, at(0)), aPod("c").Running()),
		"it is about to get pods": explained(stintv1.JobStarting, aJob()),
		"pods start":              explained(stintv1.JobStarting, aJob(), aPod("a"), stuckFor("b", "ContainerCreating", "")),
		"it waits after failures": explained(stintv1.JobDelayed, aJob(), aPod("a").Exited(1, at(20)), aPod("b").Exited(1, at(55))).with(
			func(_ *job.Observation, c *Circumstances) {
				c.Results = []stintv1.PodResult{result("a", 1, 20), result("b", 137, 55)}
				c.TimesAssumed = true
			}),
		"the Job has a delay of its own": explained(stintv1.JobDelayed, aJob().Annotation(job.BackoffSeconds, "300"), aPod("a").Exited(1, at(20))),
		"Kubernetes ignores the delay of a Job": explained(stintv1.JobDelayed, aJob().Annotation(job.BackoffSeconds, "300"), aPod("a").Exited(1, at(55))).with(
			func(_ *job.Observation, c *Circumstances) { c.TimesAssumed = true }),
		"all indexes wait after failures": explained(stintv1.JobDelayed, perIndex(), aPod("a").Index(0).Exited(1, at(55)),
			aPod("b").Index(1).IndexFailureCount(1).Exited(2, at(50)), aPod("c").Index(2).Exited(0, at(0))),
		"an index waits while others run": explained(stintv1.JobRunning, perIndex(), aPod("a").Index(0).Exited(1, at(55)),
			aPod("b").Index(1).Running()),
		"a pod fills the disk of its node": explained(stintv1.JobRunning, aJob(), aPod("a").Running(), aPod("b").Running()).with(
			func(_ *job.Observation, c *Circumstances) {
				c.Largest = map[types.UID]string{"b": "emptyDir scratch 12.0 GiB"}
			}),
		"pods are replaced when they have ended": explained(stintv1.JobReplacing, aJob().PodReplacementPolicy(batchv1.Failed),
			aPod("a").Running().With(ending(40, 30)).NodeName("n1"), aPod("b").Running().With(ending(10, 30)).NodeName("n2")),
		"a node does not end its pod": explained(stintv1.JobReplacing, aJob().PodReplacementPolicy(batchv1.Failed).Parallelism(1), aPod("a").Running().With(ending(5, 10)).NodeName("n9")),
		"it scales down": explained(stintv1.JobScalingDown, aJob().Parallelism(1),
			aPod("a").Running(), aPod("b").Running(), aPod("c").Running()),
		"a work queue winds down": explained(stintv1.JobWindingDown, aJob().WorkQueue(), aPod("a").Exited(0, at(0)), aPod("b").Running()),
	}
}

func explanationsOfPods() map[string]explanation {
	withTimeout := func() *wrappers.JobWrapper { return aJob().Annotation(job.PendingTimeoutSeconds, "300") }
	return map[string]explanation{
		"pods wait for their turn": explained(stintv1.JobPodsWaiting, aJob(),
			unscheduled("a", "WaitingForResources", "cpu: 2 requested, 500m free of 4"),
			unscheduled("b", "WaitingForResources", "older pods wait for the same resources and go first")),
		"no node fits": explained(stintv1.JobPodsWaiting, withTimeout(),
			unscheduled("a", corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient cpu.")),
		"the disk of the node is full": explained(stintv1.JobPodsWaiting, aJob().Parallelism(3),
			unscheduled("a", corev1.PodReasonUnschedulable, "the node has the taint node.kubernetes.io/disk-pressure:NoSchedule, which the "+
				"pod does not tolerate: less than 1.0 GiB are free on the file system of /data: remove files until 1.2 GiB are free; "+
				"the largest there: pod ns/b (emptyDir scratch 12.0 GiB)"),
			stuckFor("b", "CrashLoopBackOff", "back-off 20s restarting failed container").Running().With(func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].RestartCount = 2
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3}
			})).with(
			func(_ *job.Observation, c *Circumstances) {
				c.Largest = map[types.UID]string{"b": "emptyDir scratch 12.0 GiB"}
			}),
		"the image is missing": explained(stintv1.JobPodsWaiting, withTimeout(),
			stuckFor("a", "ImagePullBackOff", `Back-off pulling image "nope:1"`), stuckFor("b", "ImagePullBackOff", "")),
		"pods wait for several things": explained(stintv1.JobRunning, aJob().Parallelism(3),
			aPod("a").Running(), stuckFor("b", "CreateContainerConfigError", `secret "s" not found`),
			unscheduled("c", corev1.PodReasonUnschedulable, "0/1 nodes are available")),
		"a volume is missing": explained(stintv1.JobStarting, aJob(), stuckFor("a", "ContainerCreating", "")).with(
			func(_ *job.Observation, c *Circumstances) {
				c.Events = []corev1.Event{{InvolvedObject: corev1.ObjectReference{UID: "a"}, Type: corev1.EventTypeWarning, Reason: "FailedMount",
					Message: `MountVolume.SetUp failed for volume "v": configmap "v" not found`, LastTimestamp: at(30)}}
			}),
		"objects are missing": explained(stintv1.JobPodsWaiting, aJob(), unscheduled("a", corev1.PodReasonUnschedulable, `persistentvolumeclaim "data" not found`),
			unscheduled("b", corev1.PodReasonUnschedulable, `persistentvolumeclaim "data" not found`)).with(
			func(_ *job.Observation, c *Circumstances) {
				c.Missing = []podneeds.Need{{Kind: podneeds.ServiceAccount, Name: "no pod waits for it"}, {Kind: podneeds.ConfigMap, Name: "settings"},
					{Kind: podneeds.Secret, Name: "db", Keys: []string{"password", "user"}}, {Kind: podneeds.PersistentVolumeClaim, Name: "data"}}
			}),
		"many objects are missing": explained(stintv1.JobPodsWaiting, aJob(), stuckFor("a", "CreateContainerConfigError", `secret "s1" not found`)).with(
			func(_ *job.Observation, c *Circumstances) {
				for _, name := range []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7"} {
					c.Missing = append(c.Missing, podneeds.Need{Kind: podneeds.Secret, Name: name})
				}
			}),
		"the account is missing": explained(stintv1.JobCreationRefused, aJob()).with(func(_ *job.Observation, c *Circumstances) {
			c.Events = []corev1.Event{refusedEvent(`Error creating: pods "j-" is forbidden: error looking up service account ns/builder: serviceaccount "builder" not found`)}
			c.TimesAssumed = true
			c.Missing = []podneeds.Need{{Kind: podneeds.ServiceAccount, Name: "builder"}, {Kind: podneeds.Secret, Name: "no pod waits for it"}}
		}),
		"a claim is not bound": explained(stintv1.JobPodsWaiting, aJob(), unscheduled("a", corev1.PodReasonUnschedulable, "pod has unbound immediate PersistentVolumeClaims")).with(
			func(_ *job.Observation, c *Circumstances) {
				c.UnboundClaims = []*corev1.PersistentVolumeClaim{aClaim("data")}
				c.Events = []corev1.Event{
					{InvolvedObject: corev1.ObjectReference{UID: "data"}, Type: corev1.EventTypeNormal, Reason: "WaitForFirstConsumer", LastTimestamp: at(10)},
					{InvolvedObject: corev1.ObjectReference{UID: "data"}, Type: corev1.EventTypeWarning, Reason: "ProvisioningFailed", LastTimestamp: at(30),
						Message: `storageclass.storage.k8s.io "fast" not found`}}
			}),
		"claims cannot be used": explained(stintv1.JobPodsWaiting, aJob(), unscheduled("a", corev1.PodReasonUnschedulable,
			`persistentvolumeclaim "lost" bound to non-existent persistentvolume "pv"`)).with(
			func(_ *job.Observation, c *Circumstances) {
				lost, ending := aClaim("lost"), aClaim("ending")
				lost.Spec.VolumeName, lost.Status.Phase = "pv", corev1.ClaimLost
				ending.DeletionTimestamp = ptr.To(at(20))
				c.UnboundClaims = []*corev1.PersistentVolumeClaim{lost, ending, aClaim("new")}
			}),
		"another pod uses the claim": explained(stintv1.JobPodsWaiting, aJob(), unscheduled("a", corev1.PodReasonUnschedulable,
			"node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode")),
		"a container crashes again and again": explained(stintv1.JobPodsWaiting, aJob().RestartPolicy(corev1.RestartPolicyOnFailure),
			stuckFor("a", "CrashLoopBackOff", "back-off 20s restarting failed container").Running().With(func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].RestartCount = 2
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3}
			})),
		"a container cannot be started again and again": explained(stintv1.JobPodsWaiting, aJob().RestartPolicy(corev1.RestartPolicyOnFailure),
			stuckFor("a", "CrashLoopBackOff", "back-off 20s restarting failed container").Running().With(func(p *corev1.Pod) {
				p.Status.ContainerStatuses[0].RestartCount = 2
				p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
					ExitCode: 128, Reason: "StartError", Message: `cannot run "./job.sh": it is not executable (chmod +x)`}
			})),
	}
}

func explanationsOfEnds() map[string]explanation {
	indexed := func() *wrappers.JobWrapper {
		return aJob().Indexed().BackoffLimitPerIndex(0).BackoffLimit(6).MaxFailedIndexes(1).
			CompletedIndexes("0").FailedIndexes("1,2").Succeeded(1).Failed(2)
	}
	return map[string]explanation{
		"success is met and a pod still ends": explained(stintv1.JobCompleting, concluded(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy,
			"Matched rules at index 0").Succeeded(2), aPod("a").Running().With(ending(50, 30)).NodeName("n1")),
		"success is met and pods are to be counted": explained(stintv1.JobCompleting, concluded(batchv1.JobSuccessCriteriaMet,
			batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods").Succeeded(2), aPod("a").Exited(0, at(0))),
		"success is not stored yet": explained(stintv1.JobCompleting, aJob().Succeeded(3)),
		"it fails and pods still end": explained(stintv1.JobFailing, concluded(batchv1.JobFailureTarget, batchv1.JobReasonPodFailurePolicy,
			"Container c for pod ns/b failed with exit code 42 matching FailJob rule at index 0").Failed(1), aPod("a").Running().With(ending(50, 30)).NodeName("n1")),
		"it fails just now": explained(stintv1.JobFailing, aJob().BackoffLimit(0), aPod("a").Exited(1, at(59))),
		"it is complete":    explained(stintv1.JobComplete, concluded(batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods").Succeeded(3).TTLSecondsAfterFinished(100)),
		"it is complete by its success policy": explained(stintv1.JobComplete, concluded(batchv1.JobComplete, batchv1.JobReasonSuccessPolicy,
			"Matched rules at index 1").Succeeded(1)),
		"it failed past its backoff limit": explained(stintv1.JobFailed, concluded(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded,
			"Job has reached the specified backoff limit").Failed(7)).with(func(_ *job.Observation, c *Circumstances) {
			c.Results = []stintv1.PodResult{result("j-1", 1, 10), result("j-4", 1, 40), result("j-2", 1, 20), result("j-3", 139, 30)}
		}),
		"it failed at its deadline": explained(stintv1.JobFailed, concluded(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded,
			"Job was active longer than specified deadline").TTLSecondsAfterFinished(100).ActiveDeadlineSeconds(45)),
		"it failed by its pod failure policy": explained(stintv1.JobFailed, concluded(batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy,
			"Container c for pod ns/j-1 failed with exit code 42 matching FailJob rule at index 0").Failed(1)),
		"too many indexes failed": explained(stintv1.JobFailed, indexed().ConditionSince(at(50), batchv1.JobFailed, batchv1.JobReasonMaxFailedIndexesExceeded,
			"Job has exceeded the specified maximal number of failed indexes")),
		"indexes failed": explained(stintv1.JobFailed, indexed().ConditionSince(at(50), batchv1.JobFailed, batchv1.JobReasonFailedIndexes,
			"Job has failed indexes")),
		"a dependency failed": explained(stintv1.JobFailed, aNewJob().ConditionSince(at(50), batchv1.JobFailed, job.DependencyFailed,
			"Job extract has failed: BackoffLimitExceeded")),
		"it is deleted and its pods go first": explained(stintv1.JobDeleting, aJob().DeletionTimestamp(at(30)).Finalizers(metav1.FinalizerDeleteDependents),
			aPod("a").Running().With(ending(30, 40)), aPod("b").Exited(0, at(0)).With(ending(30, 30)).Finalizers("example.com/keep")).with(
			func(_ *job.Observation, c *Circumstances) { c.Dependents = []string{"ConfigMap/left"} }),
		"it is deleted and another finalizer remains": explained(stintv1.JobDeleting, aJob().DeletionTimestamp(at(30)).Finalizers("example.com/archive").With(
			withManager("archiver", `{"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/archive\"":{}}}}`, 1))),
		"it is complete and deleted": explained(stintv1.JobDeleting, concluded(batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "").
			DeletionTimestamp(at(30)).Finalizers(metav1.FinalizerOrphanDependents)),
	}
}
