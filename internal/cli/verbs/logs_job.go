package verbs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	cliresults "github.com/stint-dev/stint/internal/cli/results"
	"github.com/stint-dev/stint/internal/cli/target"
	core "github.com/stint-dev/stint/internal/job"
	"github.com/stint-dev/stint/internal/results"
)

// limits are flags that bound what is shown of a log.
var limits = []string{"tail", "since", "since-time", "limit-bytes", "container", "timestamps", "previous"}

// logsOfJob prints the logs of a Job's pods, unless it is for kubectl's own code: that of the one pod there is.
func (c *logsCommand) logsOfJob(cmd *cobra.Command, job *batchv1.Job, args []string) (done bool, err error) {
	client, err := c.client()
	if err != nil {
		return false, err
	}
	all, _, err := client.Results(cmd.Context(), job)
	if err != nil {
		return false, err
	}
	pods := podsOf(all)
	t, err := c.connection.connect()
	if err != nil {
		return false, err
	}
	if len(pods) == 0 && !core.Finished(job) {
		if none := noPods(t, job); !c.Follow || t.Kind == target.Embedded {
			return true, none
		} else if ptr.Deref(job.Spec.Suspend, false) {
			fmt.Fprintln(c.ErrOut, none)
		}
	}
	switch follows := c.Follow && !core.Finished(job) && t.Kind != target.Embedded; {
	case follows && !slices.ContainsFunc(limits, cmd.Flags().Changed):
		return true, c.follow(cmd.Context(), t, job)
	case follows && len(pods) > 1:
		fmt.Fprintf(c.ErrOut, "following the %d pods that are there; without further flags those to come are followed, too\n", len(pods))
		c.AllPods, c.Prefix, c.MaxFollowConcurrency = true, true, len(pods)
		return false, nil
	case len(pods) > 1:
		options, err := c.attemptOptions()
		if err != nil {
			return true, err
		}
		return true, c.logsOfPods(cmd.Context(), client, job, pods, options)
	case core.Finished(job) && client.PodsGone(cmd.Context(), job):
		return true, c.logOfAttempt(cmd, args)
	}
	return false, nil
}

// podsOf are the names of all pods that a Job has had, as far as is known, in the order of the indexes, else of the starts.
func podsOf(all *stintv1.JobResults) (pods []string) {
	for i := range all.Items {
		for _, earlier := range all.Items[i].Earlier {
			pods = append(pods, earlier.Pod)
		}
		pods = append(pods, all.Items[i].Pod)
	}
	return pods
}

// noPods says why there is nothing to print, and what helps.
func noPods(t *target.Target, job *batchv1.Job) error {
	if ptr.Deref(job.Spec.Suspend, false) {
		return fmt.Errorf("job %s is suspended and has no pods: %s", job.Name, t.Caller.Command(job.Namespace, "resume", job.Name))
	}
	return fmt.Errorf("job %s has no pods yet: see %s", job.Name, t.Caller.Command(job.Namespace, "why", job.Name))
}

func (c *logsCommand) logsOfPods(ctx context.Context, client *cliresults.Client, job *batchv1.Job, pods []string, options *corev1.PodLogOptions) error {
	options.Follow = false // they have all ended, or there is no server to end them
	var choices []labelled
	for _, pod := range pods {
		choices = append(choices, labelled{pod, results.Choice{Pod: pod, Previous: c.Previous}})
	}
	return c.printAll(ctx, client, job, choices, options)
}

func (c *logsCommand) logsOfIndexes(ctx context.Context, client *cliresults.Client, job *batchv1.Job, indexes []int64, choice results.Choice, options *corev1.PodLogOptions) error {
	if options.Follow {
		return cliresults.WrongInput(errors.New("-f follows one index at a time: name one with --index, or leave -f out"))
	}
	var choices []labelled
	for _, i := range indexes {
		choice.Index = ptr.To(i)
		choices = append(choices, labelled{fmt.Sprintf("%s-%d", job.Name, i), choice})
	}
	return c.printAll(ctx, client, job, choices, options)
}

// labelled is a log with what goes before its lines.
type labelled struct {
	label  string
	choice results.Choice
}

// printAll goes on where a log cannot be read, and says so.
func (c *logsCommand) printAll(ctx context.Context, client *cliresults.Client, job *batchv1.Job, choices []labelled, options *corev1.PodLogOptions) error {
	missing := 0
	for _, l := range choices {
		request, err := client.Log(ctx, job, l.choice, options.DeepCopy())
		if err == nil {
			err = printLines(ctx, request, l.label+": ", c.Out)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil || errors.As(err, new(*writeError)):
			return err
		default:
			fmt.Fprintf(c.ErrOut, "%s: %v\n", l.label, err)
			if !cliresults.NotBegun(err) && !apierrors.IsBadRequest(err) {
				missing++
			}
		}
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d logs cannot be read", missing, len(choices))
	}
	return nil
}

// writeError is one of the output, after which there is no use in going on.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// printLines prints each line with the label before it, and ends the last one.
func printLines(ctx context.Context, request rest.ResponseWrapper, label string, out io.Writer) error {
	body, err := request.Stream(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewReader(body)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			if line[len(line)-1] != '\n' {
				line = append(line, '\n')
			}
			if _, err := out.Write(append([]byte(label), line...)); err != nil {
				return &writeError{err}
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
