package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	"github.com/stint-dev/stint/internal/cli/verbs"
)

// settleAfter has a deletion that started its own server wait for the pods that go with what it deleted: a Job is gone
// before its pods are, and after this command nobody would end them. --wait=false leaves them to the next server.
func settleAfter(cmd *cobra.Command, connection *verbs.Connection, status io.Writer) {
	act := cmd.Run
	cmd.Run = func(cmd *cobra.Command, args []string) {
		act(cmd, args)
		config := connection.Inside()
		if waits, err := cmd.Flags().GetBool("wait"); config == nil || err != nil || !waits {
			return
		}
		config.QPS = -1 // the server knows best what it can take
		client, err := kubernetes.NewForConfig(config)
		cmdutil.CheckErr(err)
		cmdutil.CheckErr(settle(context.Background(), client, status))
	}
}

// settle returns when no pod is on its way out.
func settle(ctx context.Context, client kubernetes.Interface, status io.Writer) error {
	told := false
	return wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		n, err := leaving(ctx, client)
		if err != nil {
			return false, fmt.Errorf("wait for pods to end: %w", err)
		}
		if n > 0 && !told {
			told = true
			_, _ = fmt.Fprintln(status, "waiting for pods to end within their grace period")
		}
		return n == 0, nil
	})
}

// leaving counts the pods that are being deleted or will be, since their Job is gone.
func leaving(ctx context.Context, client kubernetes.Interface) (int, error) {
	// Pods first: a pod is never there before its Job.
	pods, err := client.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	jobs, err := client.BatchV1().Jobs("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	there := map[types.UID]bool{}
	for i := range jobs.Items {
		there[jobs.Items[i].UID] = true
	}
	n := 0
	for i := range pods.Items {
		if pod := &pods.Items[i]; pod.DeletionTimestamp != nil || ownedByNone(pod, there) {
			n++
		}
	}
	return n, nil
}

// ownedByNone tells whether the pod belongs to a Job that is not there.
func ownedByNone(pod *corev1.Pod, there map[types.UID]bool) bool {
	owner := metav1.GetControllerOf(pod)
	return owner != nil && owner.Kind == "Job" && !there[owner.UID]
}
