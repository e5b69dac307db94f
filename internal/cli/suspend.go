package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	batchclient "k8s.io/client-go/kubernetes/typed/batch/v1"

	"github.com/stint-dev/stint/internal/cli/target"
)

func newSuspend(streams genericiooptions.IOStreams) *cobra.Command {
	return suspension(streams, "suspend", "Pause a Job: its pods end, its counts stay", true)
}

func newResume(streams genericiooptions.IOStreams) *cobra.Command {
	return suspension(streams, "resume", "Let a suspended Job go on", false)
}

func suspension(streams genericiooptions.IOStreams, verb, short string, suspend bool) *cobra.Command {
	var w where
	cmd := &cobra.Command{
		Use:     verb + " NAME",
		Short:   short,
		GroupID: groupJobs,
		Args:    exactly(1, "the name of one Job"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			options, err := w.options()
			if err != nil {
				return err
			}
			t, err := target.Connect(cmd.Context(), options, nil)
			if err != nil {
				return err
			}
			client, err := batchclient.NewForConfig(t.Config)
			if err != nil {
				return err
			}
			return setSuspend(cmd.Context(), client.Jobs(t.Namespace), args[0], suspend, streams.Out)
		},
	}
	w.addFlags(cmd.Flags())
	return cmd
}

// setSuspend writes the one field, or tells why that would mean nothing.
func setSuspend(ctx context.Context, jobs batchclient.JobInterface, name string, suspend bool, out io.Writer) error {
	state := map[bool]string{true: "suspended", false: "resumed"}[suspend]
	job, err := jobs.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if ended(job) {
		return fmt.Errorf("job %s has ended and cannot be %s", name, state)
	}
	if suspend == (job.Spec.Suspend != nil && *job.Spec.Suspend) {
		_, err := fmt.Fprintf(out, "job %s is %s already\n", name, map[bool]string{true: "suspended", false: "not suspended"}[suspend])
		return err
	}
	patch := fmt.Appendf(nil, `{"spec":{"suspend":%t}}`, suspend)
	if _, err := jobs.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "stint"}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "job %s %s\n", name, state)
	return err
}

func ended(job *batchv1.Job) bool {
	for _, c := range job.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return true
		}
	}
	return false
}
