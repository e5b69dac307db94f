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

// limits are flags with which the command follows only existing pods.
var limits = []string{"tail", "since", "since-time", "limit-bytes", "container", "timestamps", "previous"}

// jobLogs prints several logs of a Job.
type jobLogs struct {
	*logsCommand
	client  *cliresults.Client
	job     *batchv1.Job
	options *corev1.PodLogOptions
}

// logsOfJob prints the logs of a Job's pods. It returns false if kubectl's own code is to print the log of a single pod.
func (c *logsCommand) logsOfJob(cmd *cobra.Command, job *batchv1.Job, args []string) (done bool, err error) {
	client, err := c.client()
	if err != nil {
		return false, err
	}
	all, _, err := client.Results(cmd.Context(), job)
	if err != nil {
		return false, nil //nolint:nilerr // kubectl's code needs fewer rights
	}
	t, err := c.connection.connect()
	if err != nil {
		return false, err
	}
	pods, ended := podsOf(all), core.Finished(job)
	goesOn := c.Follow && !ended && t.Kind != target.Embedded
	if len(pods) == 0 && !ended {
		none := noPods(t, job)
		if !goesOn {
			return true, none
		}
		c.tellSuspended(job, none)
	}
	switch {
	case goesOn:
		return c.followJob(cmd, t, job, len(pods))
	case len(pods) > 1:
		options, err := c.attemptOptions()
		if err != nil {
			return true, err
		}
		return true, jobLogs{c, client, job, options}.ofPods(cmd.Context(), pods)
	case ended && client.PodsGone(cmd.Context(), job):
		return true, c.logOfAttempt(cmd, args)
	}
	return false, nil
}

// tellSuspended prints that the Job is suspended, if it is.
func (c *logsCommand) tellSuspended(job *batchv1.Job, none error) {
	if ptr.Deref(job.Spec.Suspend, false) {
		fmt.Fprintln(c.ErrOut, none)
	}
}

// followJob follows the logs of a Job. With one of the flags in limits it returns false: kubectl's code then follows the existing
// pods.
func (c *logsCommand) followJob(cmd *cobra.Command, t *target.Target, job *batchv1.Job, pods int) (done bool, err error) {
	if !slices.ContainsFunc(limits, cmd.Flags().Changed) {
		return true, c.follow(cmd.Context(), t, job)
	}
	if pods > 1 {
		fmt.Fprintf(c.ErrOut, "following the %d existing pods; without further flags new pods are followed, too\n", pods)
		c.AllPods, c.Prefix, c.MaxFollowConcurrency = true, true, pods
	}
	return false, nil
}

// podsOf returns the names of all known pods of a Job, ordered by index, else by start time.
func podsOf(all *stintv1.JobResults) (pods []string) {
	for i := range all.Items {
		for _, earlier := range all.Items[i].Earlier {
			pods = append(pods, earlier.Pod)
		}
		pods = append(pods, all.Items[i].Pod)
	}
	return pods
}

// noPods is the error for a Job without pods, with a command that helps.
func noPods(t *target.Target, job *batchv1.Job) error {
	if ptr.Deref(job.Spec.Suspend, false) {
		return fmt.Errorf("job %s is suspended and has no pods: %s", job.Name, t.Caller.Command(job.Namespace, "resume", job.Name))
	}
	return fmt.Errorf("job %s has no pods yet: see %s", job.Name, t.Caller.Command(job.Namespace, "why", job.Name))
}

func (l jobLogs) ofPods(ctx context.Context, pods []string) error {
	l.options.Follow = false // all have terminated, or no server runs them
	var choices []labelled
	for _, pod := range pods {
		choices = append(choices, labelled{pod, results.AttemptQuery{Pod: pod, Previous: l.Previous}})
	}
	return l.print(ctx, choices)
}

func (l jobLogs) ofIndexes(ctx context.Context, indexes []int64, choice results.AttemptQuery) error {
	if l.options.Follow {
		return cliresults.WrongInput(errors.New("-f follows one index at a time: name one with --index, or leave -f out"))
	}
	var choices []labelled
	for _, i := range indexes {
		choice.Index = ptr.To(i)
		choices = append(choices, labelled{fmt.Sprintf("%s-%d", l.job.Name, i), choice})
	}
	return l.print(ctx, choices)
}

// labelled is a log with the prefix of its lines.
type labelled struct {
	label  string
	choice results.AttemptQuery
}

// print prints the logs. If one cannot be read, it prints the error and continues.
func (l jobLogs) print(ctx context.Context, choices []labelled) error {
	missing := 0
	for _, c := range choices {
		request, err := l.client.Log(ctx, l.job, c.choice, l.options.DeepCopy())
		if err == nil {
			err = printLines(ctx, request, c.label+": ", l.Out)
		}
		switch {
		case err == nil:
		case ctx.Err() != nil || errors.As(err, new(*writeError)):
			return err
		default:
			fmt.Fprintf(l.ErrOut, "%s: %v\n", c.label, err)
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

// writeError is an error of the output, after which print stops.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

// printLines prints each line with the label as prefix, and adds a missing newline at the end.
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
