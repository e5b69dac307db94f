package verbs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

const (
	// podDeletionTimeout is how long to wait, after the grace period, for the next pod to be gone. It is longer than the slowest
	// machine needs; finalizers are reported long before.
	podDeletionTimeout = 2 * time.Minute
	// finalizerNoticeDelay is when a deletion that still waits reports finalizers.
	finalizerNoticeDelay = 5 * time.Second
	// namesShown bounds the objects that are listed by name.
	namesShown = 5
)

// waitForPodsAfter makes stint delete, if it has started its own server, wait for the pods of deleted Jobs: they may be deleted
// after their Job, and without a server no process stops them. --wait=false leaves them to the next server. While it waits it
// reports finalizers.
func waitForPodsAfter(cmd *cobra.Command, connection *Connection, status io.Writer) {
	act := cmd.Run
	cmd.Run = func(cmd *cobra.Command, args []string) {
		ctx, cancel := context.WithCancel(cmd.Context())
		defer cancel()
		time.AfterFunc(finalizerNoticeDelay, func() { printFinalizers(ctx, connection.Inside(), status) })
		act(cmd, args)
		config := connection.Inside()
		if waits, err := cmd.Flags().GetBool("wait"); config == nil || err != nil || !waits {
			return
		}
		client, err := unlimited(config)
		cmdutil.CheckErr(err)
		if err := waitForPods(ctx, client, status, podDeletionTimeout); err != nil {
			cmdutil.CheckErr(fmt.Errorf("%w; to continue: %s", err, connection.Caller().Command("", "server")))
		}
	}
}

// unlimited returns a client without a rate limit, for a server in this process.
func unlimited(config *rest.Config) (kubernetes.Interface, error) {
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

// printFinalizers prints which finalizers keep deleted objects, as they may never be removed.
func printFinalizers(ctx context.Context, config *rest.Config, status io.Writer) {
	if config == nil || ctx.Err() != nil {
		return
	}
	client, err := unlimited(config)
	if err != nil {
		return
	}
	held, err := withFinalizers(ctx, client)
	if err == nil && len(held) > 0 {
		_, _ = fmt.Fprintf(status, "waiting for %s; Ctrl-C stops waiting\n", few(held))
	}
}

// withFinalizers lists the Jobs and pods that are being deleted and have finalizers.
func withFinalizers(ctx context.Context, client kubernetes.Interface) ([]string, error) {
	jobs, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var held []string
	for i := range jobs.Items {
		held = appendHeld(held, "job", &jobs.Items[i])
	}
	for i := range pods.Items {
		held = appendHeld(held, "pod", &pods.Items[i])
	}
	return held, nil
}

func appendHeld(held []string, kind string, object metav1.Object) []string {
	if object.GetDeletionTimestamp() == nil || len(object.GetFinalizers()) == 0 {
		return held
	}
	return append(held, fmt.Sprintf("%s %s/%s (finalizer %s)", kind, object.GetNamespace(), object.GetName(),
		strings.Join(object.GetFinalizers(), ", ")))
}

// few joins the first texts, and counts the others.
func few(texts []string) string {
	if more := len(texts) - namesShown; more > 0 {
		texts = append(slices.Clone(texts[:namesShown]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(texts, "; ")
}

// waitForPods waits until there are no more terminating pods. It fails if none is gone within the longest grace period plus slack.
func waitForPods(ctx context.Context, client kubernetes.Interface, status io.Writer, slack time.Duration) error {
	told, last, wentAt := false, 0, time.Now()
	return wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		pods, err := terminatingPods(ctx, client)
		if err != nil {
			return false, fmt.Errorf("wait for pods to end: %w", err)
		}
		if len(pods) > 0 && !told {
			told = true
			_, _ = fmt.Fprintln(status, "waiting for pods to terminate within their grace period")
		}
		if len(pods) < last {
			wentAt = time.Now()
		}
		last = len(pods)
		if last > 0 && time.Since(wentAt) > longestGrace(pods)+slack {
			return false, stillThere(pods)
		}
		return last == 0, nil
	})
}

// longestGrace is the longest grace period of the pods.
func longestGrace(pods []*corev1.Pod) time.Duration {
	var longest int64
	for _, pod := range pods {
		for _, seconds := range []*int64{pod.DeletionGracePeriodSeconds, pod.Spec.TerminationGracePeriodSeconds} {
			if seconds != nil {
				longest = max(longest, *seconds)
				break
			}
		}
	}
	return time.Duration(longest) * time.Second
}

func stillThere(pods []*corev1.Pod) error {
	var names []string
	for _, pod := range pods {
		name := "pod " + pod.Namespace + "/" + pod.Name
		if len(pod.Finalizers) > 0 {
			name += " (finalizer " + strings.Join(pod.Finalizers, ", ") + ")"
		}
		names = append(names, name)
	}
	return errors.New("still terminating: " + few(names))
}

// terminatingPods returns the pods that are being deleted, or will be because their Job is gone.
func terminatingPods(ctx context.Context, client kubernetes.Interface) ([]*corev1.Pod, error) {
	// List pods first: a pod in this list was created after its Job, so a Job that is missing in the later list is gone.
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	jobs, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	there := map[types.UID]bool{}
	for i := range jobs.Items {
		there[jobs.Items[i].UID] = true
	}
	var leaving []*corev1.Pod
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp != nil || ownedByNone(pod, there) {
			leaving = append(leaving, pod)
		}
	}
	return leaving, nil
}

// ownedByNone reports whether the pod belongs to a Job that does not exist.
func ownedByNone(pod *corev1.Pod, there map[types.UID]bool) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "Job" && !there[owner.UID]
}
