package verbs

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/kubectl/pkg/cmd/logs"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"

	cliresults "github.com/stint-dev/stint/internal/cli/results"
	"github.com/stint-dev/stint/internal/results"
	"github.com/stint-dev/stint/internal/visible"
)

// attemptFlags are the flags that choose an attempt.
var attemptFlags = []string{"index", "attempt", "pod"}

// otherPods are kubectl's flags for several pods or containers.
var otherPods = []string{"selector", "all-pods", "all-containers", "prefix"}

// logsCommand is kubectl's command, with flags for the attempts of Jobs.
type logsCommand struct {
	*logs.LogsOptions
	connection *Connection
	factory    cmdutil.Factory
	index      string
	attempt    int64
	pod        string
}

func newLogs(connection *Connection, f cmdutil.Factory, streams genericiooptions.IOStreams) *cobra.Command {
	streams.Out = visible.Unchanged(streams.Out)
	c := &logsCommand{LogsOptions: logs.NewLogsOptions(streams), connection: connection, factory: f}
	plain := logs.NewCmdLogs(f, streams)
	cmd := &cobra.Command{
		Use:                   plain.Use,
		DisableFlagsInUseLine: true,
		Long: plain.Long + `

If a Job has several pods, the logs of all of them are printed, each line prefixed with the pod's name; with -f new pods are
followed as well, until the Job has finished.

With --index, --attempt or --pod: the log of one attempt. stint server keeps it after the pod is deleted, as long as the
Job exists and --keep-logs allows.`,
		Example: plain.Example + `

  # The log of the second attempt of index 17 of a Job, even if its pod is deleted
  kubectl logs simulate --index 17 --attempt 2

  # The logs of the last attempts of several indexes
  kubectl logs simulate --index 0-3,17`,
		ValidArgsFunction: plain.ValidArgsFunction,
		RunE:              c.run,
	}
	c.AddFlags(cmd)
	cmd.Flags().StringVar(&c.index, "index", "", "Completion indexes of a Job, such as 17 or 0-3,17")
	cmd.Flags().Int64Var(&c.attempt, "attempt", 0, "Attempt of a Job, index or pod, from 1; new pods and restarts of containers both count. Defaults to the last.")
	cmd.Flags().StringVar(&c.pod, "pod", "", "Pod of a Job, which may be deleted")
	return cmd
}

func (c *logsCommand) run(cmd *cobra.Command, args []string) error {
	for _, name := range attemptFlags {
		if cmd.Flags().Changed(name) {
			return c.logOfAttempt(cmd, args)
		}
	}
	err := c.Complete(c.factory, cmd, args)
	if apierrors.IsNotFound(err) && len(args) > 0 && !strings.Contains(args[0], "/") {
		err = c.completeJob(cmd, args, err)
	}
	cmdutil.CheckErr(err)
	cmdutil.CheckErr(c.Validate())
	c.ConsumeRequestFn = c.consume
	if job, ok := c.Object.(*batchv1.Job); ok && !slices.ContainsFunc(otherPods, cmd.Flags().Changed) {
		if done, err := c.logsOfJob(cmd, job, args); done || err != nil {
			return err
		}
	}
	cmdutil.CheckErr(c.RunLogsContext(cmd.Context()))
	return nil
}

// completeJob uses the Job of that name, as there is no such pod.
func (c *logsCommand) completeJob(cmd *cobra.Command, args []string, noPod error) error {
	client, err := c.client()
	if err != nil {
		return noPod
	}
	job, err := client.Job(cmd.Context(), args[0])
	if err != nil {
		return noPod
	}
	c.Object = job
	return c.Complete(c.factory, cmd, args)
}

func (c *logsCommand) client() (*cliresults.Client, error) {
	config, err := c.factory.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	namespace, _, err := c.factory.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return nil, err
	}
	return cliresults.Connect(config, namespace)
}

func (c *logsCommand) logOfAttempt(cmd *cobra.Command, args []string) error {
	name, choice, err := c.choice(cmd, args)
	if err != nil {
		return err
	}
	options, err := c.attemptOptions()
	if err != nil {
		return err
	}
	client, err := c.client()
	if err != nil {
		return err
	}
	if cmd.Flags().Changed("index") {
		job, err := client.Job(cmd.Context(), name)
		if err != nil {
			return err
		}
		indexes, err := parseIndexes(c.index, job)
		if err != nil {
			return cliresults.WrongInput(err)
		}
		if len(indexes) > 1 {
			return jobLogs{c, client, job, options}.ofIndexes(cmd.Context(), indexes, choice)
		}
		choice.Index = &indexes[0]
	}
	err = c.printLog(cmd.Context(), client, name, choice, options)
	for pause := time.Second; c.Follow && cliresults.NotBegun(err); pause = min(2*pause, longestPause) {
		select {
		case <-cmd.Context().Done():
			return nil
		case <-time.After(pause):
		}
		err = c.printLog(cmd.Context(), client, name, choice, options)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return cliresults.Refused(err)
}

// attemptOptions returns kubectl's options without --previous, which is part of the AttemptQuery.
func (c *logsCommand) attemptOptions() (*corev1.PodLogOptions, error) {
	options, err := c.ToLogOptions()
	if err != nil {
		return nil, cliresults.WrongInput(err)
	}
	options.Previous = false
	c.Options = options
	if err := c.Validate(); err != nil {
		return nil, cliresults.WrongInput(err)
	}
	return options, nil
}

// longestPause is the longest time between two checks whether an attempt to follow has started.
const longestPause = 10 * time.Second

func (c *logsCommand) printLog(ctx context.Context, client *cliresults.Client, name string, choice results.AttemptQuery, options *corev1.PodLogOptions) error {
	job, err := client.Job(ctx, name)
	if err != nil {
		return err
	}
	request, err := client.Log(ctx, job, choice, options.DeepCopy())
	if err != nil {
		return err
	}
	return c.consume(ctx, request, c.Out)
}

// consume prints a log. One that was followed is asked for again at its end: the server warns of what a log lacks before it sends
// the log, and some of the output may have been lost since.
func (c *logsCommand) consume(ctx context.Context, request rest.ResponseWrapper, out io.Writer) error {
	if err := logs.DefaultConsumeRequest(ctx, request, out); err != nil || !c.Follow {
		return err
	}
	if body, err := request.Stream(ctx); err == nil {
		body.Close()
	}
	return nil
}

// choice reads the arguments and flags.
func (c *logsCommand) choice(cmd *cobra.Command, args []string) (name string, choice results.AttemptQuery, err error) {
	for _, other := range otherPods {
		if cmd.Flags().Changed(other) {
			return "", choice, cliresults.WrongInput(errors.New("--" + other + " does not go with --index, --attempt and --pod: leave it out"))
		}
	}
	if len(args) == 0 || len(args) > 2 {
		return "", choice, cliresults.WrongInput(errors.New("stint logs --index N takes the name of a Job: see stint logs --help"))
	}
	if name, err = cliresults.JobName(args[0]); err != nil {
		return "", choice, err
	}
	if len(args) == 2 {
		c.Container = args[1]
	}
	choice = results.AttemptQuery{Pod: c.pod, Previous: c.Previous}
	if cmd.Flags().Changed("attempt") {
		choice.Attempt = &c.attempt
	}
	return name, choice, nil
}
