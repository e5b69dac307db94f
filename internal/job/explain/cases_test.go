package explain

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/job"
)

func explanationsOfBeginnings() map[string]explanation {
	withDependencies := func(j *batchv1.Job) {
		notStarted(j)
		j.Annotations = map[string]string{job.DependsOn: "extract, clean=Finished"}
		j.Status.Conditions = []batchv1.JobCondition{
			{Type: job.DependsOnCondition + "extract", Status: corev1.ConditionFalse, Reason: "Running", Message: "Job extract has not ended", LastTransitionTime: at(2)},
			{Type: job.DependsOnCondition + "clean", Status: corev1.ConditionTrue, Reason: "Failed", Message: "Job clean has failed", LastTransitionTime: at(2)},
		}
	}
	held := func(j *batchv1.Job) {
		notStarted(j)
		withSuspend(j)
		j.Annotations = map[string]string{job.HeldAnnotation: "2023-11-14T22:13:25.000000000Z"}
		j.OwnerReferences = []metav1.OwnerReference{{Kind: "CronJob", Name: "nightly", Controller: ptr.To(true)}}
	}
	suspended := func(j *batchv1.Job) {
		withEnd(batchv1.JobSuspended, "JobSuspended", "Job suspended")(j)
		withSuspend(j)
		j.Status.StartTime = nil
	}
	return map[string]explanation{
		"no controller has seen it": explained(stintv1.JobNotSeen, aJob(notStarted)),
		"it is new": explained(stintv1.JobStarting, aJob(notStarted)).with(func(o *job.Observation, _ *Circumstances) {
			o.Now = epoch.Add(time.Second)
		}),
		"it is looked at without a server": explained(stintv1.JobStarting, aJob(born), aPod("a")).with(func(_ *job.Observation, c *Circumstances) {
			c.NoController = true
		}),
		"the completion mode is unknown": explained(stintv1.JobUnknownMode, aJob(notStarted, func(j *batchv1.Job) {
			j.Spec.CompletionMode = ptr.To(batchv1.CompletionMode("Sorted"))
		})),
		"another controller has made no pods": explained(stintv1.JobUnknownPlan, aJob(notStarted, func(j *batchv1.Job) {
			j.Spec.ManagedBy = ptr.To("kueue.x-k8s.io/multikueue")
		})),
		"another controller runs it": explained(stintv1.JobRunning, aJob(born, func(j *batchv1.Job) {
			j.Spec.ManagedBy = ptr.To("kueue.x-k8s.io/multikueue")
		}), aPod("a", running), aPod("b", exited(1, 55))),
		"the concurrency policy holds it": explained(stintv1.JobHeld, aJob(held)).with(func(_ *job.Observation, c *Circumstances) {
			c.Holders = []string{"job nightly-1"}
		}),
		"its pods are gated":      explained(stintv1.JobPodsWaiting, aJob(born), aPod("a", unplaced(corev1.PodReasonSchedulingGated, "Scheduling is blocked due to non-empty scheduling gates"))),
		"it waits for other Jobs": explained(stintv1.JobWaitingForJobs, aJob(withDependencies)),
		"it is suspended": explained(stintv1.JobSuspended, aJob(suspended,
			withManager("kubectl-patch", `{"f:spec":{"f:suspend":{}}}`, 48), withManager("stint", `{"f:spec":{"f:parallelism":{}}}`, 59))),
		"it is suspended and its pods still end": explained(stintv1.JobSuspended, aJob(suspended), aPod("a", running, ending(50, 30), on("n1"))),
		"it is paused": explained(stintv1.JobPaused, aJob(born, func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](0) },
			withManager("kubectl-scale", `{"f:spec":{"f:parallelism":{}}}`, 20))),
		"the server refuses its pods": explained(stintv1.JobCreationRefused, aJob(born)).with(func(o *job.Observation, c *Circumstances) {
			c.Events = []corev1.Event{refusedEvent(`Error creating: pods "j-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2`)}
			o.NoPodsBefore = epoch.Add(65 * time.Second)
		}),
		"a cluster refuses its pods": explained(stintv1.JobCreationRefused, aJob(born)).with(func(_ *job.Observation, c *Circumstances) {
			c.Events = []corev1.Event{refusedEvent(`Error creating: admission webhook "policy.example.com" denied the request`)}
			c.TimesAssumed = true
		}),
	}
}

func explanationsOfWork() map[string]explanation {
	perIndexJob := func(j *batchv1.Job) {
		born(j)
		withIndexes(j)
		j.Spec.BackoffLimit, j.Spec.BackoffLimitPerIndex = nil, ptr.To[int32](3)
		j.Spec.MaxFailedIndexes = ptr.To[int32](2)
	}
	queue := func(j *batchv1.Job) {
		born(j)
		j.Spec.Completions = nil
	}
	return map[string]explanation{
		"pods run": explained(stintv1.JobRunning, aJob(born, func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](600) }),
			aPod("a", running), aPod("b", succeeded), aPod("c", running)),
		"it is about to get pods": explained(stintv1.JobStarting, aJob(born)),
		"pods start":              explained(stintv1.JobStarting, aJob(born), aPod("a"), aPod("b", stuckFor("ContainerCreating", ""))),
		"it waits after failures": explained(stintv1.JobDelayed, aJob(born), aPod("a", exited(1, 20)), aPod("b", exited(1, 55))).with(
			func(_ *job.Observation, c *Circumstances) {
				c.Results = []stintv1.PodResult{result("a", 1, 20), result("b", 137, 55)}
				c.TimesAssumed = true
			}),
		"the Job has a delay of its own": explained(stintv1.JobDelayed, aJob(born, func(j *batchv1.Job) {
			j.Annotations = map[string]string{job.BackoffSeconds: "300"}
		}), aPod("a", exited(1, 20))),
		"Kubernetes ignores the delay of a Job": explained(stintv1.JobDelayed, aJob(born, func(j *batchv1.Job) {
			j.Annotations = map[string]string{job.BackoffSeconds: "300"}
		}), aPod("a", exited(1, 55))).with(func(_ *job.Observation, c *Circumstances) { c.TimesAssumed = true }),
		"all indexes wait after failures": explained(stintv1.JobDelayed, aJob(perIndexJob), aPod("a", withIndex(0), exited(1, 55)),
			aPod("b", withIndex(1), withFailures(1), exited(2, 50)), aPod("c", withIndex(2), succeeded)),
		"an index waits while others run": explained(stintv1.JobRunning, aJob(perIndexJob), aPod("a", withIndex(0), exited(1, 55)),
			aPod("b", withIndex(1), running)),
		"pods are replaced when they have ended": explained(stintv1.JobReplacing, aJob(born, func(j *batchv1.Job) {
			j.Spec.PodReplacementPolicy = ptr.To(batchv1.Failed)
		}), aPod("a", running, ending(40, 30), on("n1")), aPod("b", running, ending(10, 30), on("n2"))),
		"a node does not end its pod": explained(stintv1.JobReplacing, aJob(born, func(j *batchv1.Job) {
			j.Spec.PodReplacementPolicy, j.Spec.Parallelism = ptr.To(batchv1.Failed), ptr.To[int32](1)
		}), aPod("a", running, ending(5, 10), on("n9"))),
		"it scales down": explained(stintv1.JobScalingDown, aJob(born, func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](1) }),
			aPod("a", running), aPod("b", running), aPod("c", running)),
		"a work queue winds down": explained(stintv1.JobWindingDown, aJob(queue), aPod("a", succeeded), aPod("b", running)),
	}
}

func explanationsOfPods() map[string]explanation {
	withTimeout := func(j *batchv1.Job) {
		born(j)
		j.Annotations = map[string]string{job.PendingTimeoutSeconds: "300"}
	}
	return map[string]explanation{
		"pods wait for their turn": explained(stintv1.JobPodsWaiting, aJob(born),
			aPod("a", unscheduled("WaitingForResources", "cpu: 2 requested, 500m free of 4")),
			aPod("b", unscheduled("WaitingForResources", "older pods wait for the same resources and go first"))),
		"no node fits": explained(stintv1.JobPodsWaiting, aJob(withTimeout),
			aPod("a", unscheduled(corev1.PodReasonUnschedulable, "0/3 nodes are available: 3 Insufficient cpu."))),
		"the image is missing": explained(stintv1.JobPodsWaiting, aJob(withTimeout),
			aPod("a", stuckFor("ImagePullBackOff", `Back-off pulling image "nope:1"`)), aPod("b", stuckFor("ImagePullBackOff", ""))),
		"pods wait for several things": explained(stintv1.JobRunning, aJob(born, func(j *batchv1.Job) { j.Spec.Parallelism = ptr.To[int32](3) }),
			aPod("a", running), aPod("b", stuckFor("CreateContainerConfigError", `secret "s" not found`)),
			aPod("c", unscheduled(corev1.PodReasonUnschedulable, "0/1 nodes are available"))),
		"a volume is missing": explained(stintv1.JobStarting, aJob(born), aPod("a", stuckFor("ContainerCreating", ""))).with(
			func(_ *job.Observation, c *Circumstances) {
				c.Events = []corev1.Event{{InvolvedObject: corev1.ObjectReference{UID: "a"}, Type: corev1.EventTypeWarning, Reason: "FailedMount",
					Message: `MountVolume.SetUp failed for volume "v": configmap "v" not found`, LastTimestamp: at(30)}}
			}),
		"a container crashes again and again": explained(stintv1.JobPodsWaiting, aJob(born, func(j *batchv1.Job) {
			j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		}), aPod("a", running, stuckFor("CrashLoopBackOff", "back-off 20s restarting failed container"), func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].RestartCount = 2
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 3}
		})),
		"a container cannot be started again and again": explained(stintv1.JobPodsWaiting, aJob(born, func(j *batchv1.Job) {
			j.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure
		}), aPod("a", running, stuckFor("CrashLoopBackOff", "back-off 20s restarting failed container"), func(p *corev1.Pod) {
			p.Status.ContainerStatuses[0].RestartCount = 2
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{
				ExitCode: 128, Reason: "StartError", Message: `cannot run "./job.sh": it is not executable (chmod +x)`}
		})),
	}
}

func explanationsOfEnds() map[string]explanation {
	deletedJob := func(finalizers ...string) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			born(j)
			j.DeletionTimestamp, j.Finalizers = ptr.To(at(30)), finalizers
		}
	}
	indexed := func(j *batchv1.Job) {
		withIndexes(j)
		j.Status.CompletedIndexes, j.Status.FailedIndexes = "0", ptr.To("1,2")
		j.Spec.BackoffLimitPerIndex, j.Spec.MaxFailedIndexes = ptr.To[int32](0), ptr.To[int32](1)
		j.Status.Succeeded, j.Status.Failed = 1, 2
	}
	ttl := func(j *batchv1.Job) { j.Spec.TTLSecondsAfterFinished = ptr.To[int32](100) }
	counts := func(succeeded, failed int32) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.Status.Succeeded, j.Status.Failed = succeeded, failed }
	}
	return map[string]explanation{
		"success is met and a pod still ends": explained(stintv1.JobCompleting, aJob(withEnd(batchv1.JobSuccessCriteriaMet, batchv1.JobReasonSuccessPolicy,
			"Matched rules at index 0"), counts(2, 0)), aPod("a", running, ending(50, 30), on("n1"))),
		"success is met and pods are to be counted": explained(stintv1.JobCompleting, aJob(withEnd(batchv1.JobSuccessCriteriaMet,
			batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods"), counts(2, 0)), aPod("a", succeeded)),
		"success is not stored yet": explained(stintv1.JobCompleting, aJob(born, counts(3, 0))),
		"it fails and pods still end": explained(stintv1.JobFailing, aJob(withEnd(batchv1.JobFailureTarget, batchv1.JobReasonPodFailurePolicy,
			"Container c for pod ns/b failed with exit code 42 matching FailJob rule at index 0"), counts(0, 1)), aPod("a", running, ending(50, 30), on("n1"))),
		"it fails just now": explained(stintv1.JobFailing, aJob(born, func(j *batchv1.Job) { j.Spec.BackoffLimit = ptr.To[int32](0) }), aPod("a", exited(1, 59))),
		"it is complete":    explained(stintv1.JobComplete, aJob(withEnd(batchv1.JobComplete, batchv1.JobReasonCompletionsReached, "Reached expected number of succeeded pods"), counts(3, 0), ttl)),
		"it is complete by its success policy": explained(stintv1.JobComplete, aJob(withEnd(batchv1.JobComplete, batchv1.JobReasonSuccessPolicy,
			"Matched rules at index 1"), counts(1, 0))),
		"it failed past its backoff limit": explained(stintv1.JobFailed, aJob(withEnd(batchv1.JobFailed, batchv1.JobReasonBackoffLimitExceeded,
			"Job has reached the specified backoff limit"), counts(0, 7))).with(func(_ *job.Observation, c *Circumstances) {
			c.Results = []stintv1.PodResult{result("j-1", 1, 10), result("j-4", 1, 40), result("j-2", 1, 20), result("j-3", 139, 30)}
		}),
		"it failed at its deadline": explained(stintv1.JobFailed, aJob(withEnd(batchv1.JobFailed, batchv1.JobReasonDeadlineExceeded,
			"Job was active longer than specified deadline"), ttl, func(j *batchv1.Job) { j.Spec.ActiveDeadlineSeconds = ptr.To[int64](45) })),
		"it failed by its pod failure policy": explained(stintv1.JobFailed, aJob(withEnd(batchv1.JobFailed, batchv1.JobReasonPodFailurePolicy,
			"Container c for pod ns/j-1 failed with exit code 42 matching FailJob rule at index 0"), counts(0, 1))),
		"too many indexes failed": explained(stintv1.JobFailed, aJob(withEnd(batchv1.JobFailed, batchv1.JobReasonMaxFailedIndexesExceeded,
			"Job has exceeded the specified maximal number of failed indexes"), indexed)),
		"indexes failed": explained(stintv1.JobFailed, aJob(withEnd(batchv1.JobFailed, batchv1.JobReasonFailedIndexes,
			"Job has failed indexes"), indexed)),
		"a dependency failed": explained(stintv1.JobFailed, aJob(notStarted, withEnd(batchv1.JobFailed, job.DependencyFailed,
			"Job extract has failed: BackoffLimitExceeded"))),
		"it is deleted and its pods go first": explained(stintv1.JobDeleting, aJob(deletedJob(metav1.FinalizerDeleteDependents)),
			aPod("a", running, ending(30, 40)), aPod("b", succeeded, ending(30, 30), func(p *corev1.Pod) { p.Finalizers = []string{"example.com/keep"} })).with(
			func(_ *job.Observation, c *Circumstances) { c.Dependents = []string{"ConfigMap/left"} }),
		"it is deleted and somebody keeps it": explained(stintv1.JobDeleting, aJob(deletedJob("example.com/archive"),
			withManager("archiver", `{"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/archive\"":{}}}}`, 1))),
		"it is complete and deleted": explained(stintv1.JobDeleting, aJob(withEnd(batchv1.JobComplete, batchv1.JobReasonCompletionsReached, ""),
			deletedJob(metav1.FinalizerOrphanDependents))),
	}
}
