// Package verbs builds kubectl's own commands into stint. They connect to the cluster of a kubeconfig, to the server on the data
// directory or, to read the data of a stopped server, to a server inside this process.
package verbs

import (
	"os"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/annotate"
	"k8s.io/kubectl/pkg/cmd/apiresources"
	"k8s.io/kubectl/pkg/cmd/apply"
	"k8s.io/kubectl/pkg/cmd/attach"
	"k8s.io/kubectl/pkg/cmd/auth"
	"k8s.io/kubectl/pkg/cmd/clusterinfo"
	"k8s.io/kubectl/pkg/cmd/cp"
	"k8s.io/kubectl/pkg/cmd/create"
	"k8s.io/kubectl/pkg/cmd/debug"
	"k8s.io/kubectl/pkg/cmd/delete"
	"k8s.io/kubectl/pkg/cmd/describe"
	"k8s.io/kubectl/pkg/cmd/diff"
	"k8s.io/kubectl/pkg/cmd/edit"
	"k8s.io/kubectl/pkg/cmd/events"
	"k8s.io/kubectl/pkg/cmd/exec"
	"k8s.io/kubectl/pkg/cmd/explain"
	"k8s.io/kubectl/pkg/cmd/get"
	"k8s.io/kubectl/pkg/cmd/label"
	"k8s.io/kubectl/pkg/cmd/patch"
	"k8s.io/kubectl/pkg/cmd/portforward"
	"k8s.io/kubectl/pkg/cmd/replace"
	"k8s.io/kubectl/pkg/cmd/top"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/cmd/wait"
	"k8s.io/kubectl/pkg/util/completion"

	_ "github.com/stint-dev/stint/internal/cli/english" // before kubectl's packages
	"github.com/stint-dev/stint/internal/visible"
)

// Needs says which server a verb needs.
type Needs int

// The needs of verbs.
const (
	// NeedsServer means a running server.
	NeedsServer Needs = iota
	// NeedsData means a data directory, whether or not its server runs.
	NeedsData
	// NeedsNothing means discovery only.
	NeedsNothing
)

// Verb is one of kubectl's commands, built when it is used.
type Verb struct {
	Name  string
	Short string
	Needs Needs
	build func(cmdutil.Factory, genericiooptions.IOStreams) *cobra.Command
	// own, if set, is used instead of build.
	own func(*Connection, cmdutil.Factory, genericiooptions.IOStreams) *cobra.Command
}

// parent is the program's name in the help of kubectl's commands.
const parent = "stint"

// All lists the verbs.
var All = []Verb{
	{Name: "get", Short: "Show objects, one per line or in full", Needs: NeedsData, build: newGet},
	{Name: "describe", Short: "Show the details of an object", Needs: NeedsData, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return describe.NewCmdDescribe(parent, f, s)
	}},
	{Name: "logs", Short: "Print the logs of a pod or a Job's pods", Needs: NeedsData, own: newLogs},
	{Name: "exec", Short: "Run a command in a container", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return exec.NewCmdExec(f, unchanged(s))
	}},
	{Name: "attach", Short: "Connect with the streams of a container", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return attach.NewCmdAttach(f, unchanged(s))
	}},
	{Name: "debug", Short: "Run a container of another image in a pod", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return debug.NewCmdDebug(f, outputUnchanged(s))
	}},
	{Name: "cp", Short: "Copy files from and to a container", Needs: NeedsServer, build: cp.NewCmdCp},
	{Name: "port-forward", Short: "Connect ports of this machine with those of a pod", Needs: NeedsServer, build: portforward.NewCmdPortForward},
	{Name: "top", Short: "Show how much CPU and memory pods or the node use", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return top.NewCmdTop(f, s)
	}},
	{Name: "events", Short: "List events", Needs: NeedsData, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return events.NewCmdEvents(f, s)
	}},
	{Name: "explain", Short: "Explain the fields of a kind", Needs: NeedsNothing, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return explain.NewCmdExplain(parent, f, s)
	}},
	{Name: "apply", Short: "Create or change objects to match a file", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apply.NewCmdApply(parent, f, s)
	}},
	{Name: "create", Short: "Create objects", Needs: NeedsServer, build: create.NewCmdCreate},
	{Name: "delete", Short: "Delete objects", Needs: NeedsData, build: delete.NewCmdDelete},
	{Name: "patch", Short: "Change fields of an object", Needs: NeedsServer, build: patch.NewCmdPatch},
	{Name: "edit", Short: "Change an object in an editor", Needs: NeedsServer, build: edit.NewCmdEdit},
	{Name: "replace", Short: "Replace an object by a file", Needs: NeedsServer, build: replace.NewCmdReplace},
	{Name: "diff", Short: "Compare a file with the stored objects", Needs: NeedsServer, build: newDiff},
	{Name: "label", Short: "Set labels", Needs: NeedsServer, build: label.NewCmdLabel},
	{Name: "annotate", Short: "Set annotations", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return annotate.NewCmdAnnotate(parent, f, s)
	}},
	{Name: "wait", Short: "Wait for a condition", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return wait.NewCmdWait(f, s)
	}},
	{Name: "auth", Short: "Check permissions", Needs: NeedsServer, build: auth.NewCmdAuth},
	{Name: "cluster-info", Short: "Show the address of the server", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return clusterinfo.NewCmdClusterInfo(f, s)
	}},
	{Name: "api-resources", Short: "List the kinds that are served", Needs: NeedsNothing, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apiresources.NewCmdAPIResources(f, s)
	}},
	{Name: "api-versions", Short: "List the API versions that are served", Needs: NeedsNothing, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apiresources.NewCmdAPIVersions(f, s)
	}},
}

// unchanged returns streams that pass on what a container writes.
func unchanged(s genericiooptions.IOStreams) genericiooptions.IOStreams {
	s.Out, s.ErrOut = visible.Unchanged(s.Out), visible.Unchanged(s.ErrOut)
	return s
}

// outputUnchanged returns streams of which only standard output, which a terminal of a container has for both, passes on what the
// container writes: on standard error, kubectl debug also prints messages from the status of the pod.
func outputUnchanged(s genericiooptions.IOStreams) genericiooptions.IOStreams {
	s.Out = visible.Unchanged(s.Out)
	return s
}

// newDiff passes on what a program of the user's prints.
func newDiff(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
	if os.Getenv("KUBECTL_EXTERNAL_DIFF") != "" {
		s = unchanged(s)
	}
	return diff.NewCmdDiff(f, s)
}

func newGet(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
	cmd := get.NewCmdGet(parent, f, s)
	cmd.ValidArgsFunction = completion.ResourceTypeAndNameCompletionFunc(f)
	return cmd
}

// Build returns the verb's command, which uses the connection.
func (v Verb) Build(connection *Connection, streams genericiooptions.IOStreams) *cobra.Command {
	f := cmdutil.NewFactory(cmdutil.NewMatchVersionFlags(connection))
	completion.SetFactoryForCompletion(f)
	build := v.build
	if v.own != nil {
		build = func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command { return v.own(connection, f, s) }
	}
	cmd := build(f, streams)
	rename(cmd)
	cmd.Short = v.Short
	return cmd
}

// rename replaces kubectl by stint in the help.
func rename(cmd *cobra.Command) {
	for _, text := range []*string{&cmd.Short, &cmd.Long, &cmd.Example} {
		*text = strings.ReplaceAll(*text, "kubectl", parent)
	}
	for _, sub := range cmd.Commands() {
		rename(sub)
	}
}
