// Package verbs builds kubectl's own commands into stint. They talk to whatever stint talks to: the cluster of a
// kubeconfig, the server on the data directory, or, for looking at what was, a server inside this process.
package verbs

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/annotate"
	"k8s.io/kubectl/pkg/cmd/apiresources"
	"k8s.io/kubectl/pkg/cmd/apply"
	"k8s.io/kubectl/pkg/cmd/auth"
	"k8s.io/kubectl/pkg/cmd/clusterinfo"
	"k8s.io/kubectl/pkg/cmd/create"
	"k8s.io/kubectl/pkg/cmd/delete"
	"k8s.io/kubectl/pkg/cmd/describe"
	"k8s.io/kubectl/pkg/cmd/diff"
	"k8s.io/kubectl/pkg/cmd/edit"
	"k8s.io/kubectl/pkg/cmd/events"
	"k8s.io/kubectl/pkg/cmd/explain"
	"k8s.io/kubectl/pkg/cmd/get"
	"k8s.io/kubectl/pkg/cmd/label"
	"k8s.io/kubectl/pkg/cmd/patch"
	"k8s.io/kubectl/pkg/cmd/replace"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubectl/pkg/cmd/wait"
	"k8s.io/kubectl/pkg/util/completion"
)

// Needs is what a verb cannot do without.
type Needs int

// The needs of verbs.
const (
	// NeedsServer: a server that runs.
	NeedsServer Needs = iota
	// NeedsData: what a data directory holds, whether or not its server runs.
	NeedsData
	// NeedsNothing: it is about the kinds there are.
	NeedsNothing
)

// Verb is a command that can be built when it is asked for.
type Verb struct {
	Name  string
	Short string
	Needs Needs
	build func(cmdutil.Factory, genericiooptions.IOStreams) *cobra.Command
	// own builds, instead, a command that knows more than kubectl's.
	own func(*Connection, cmdutil.Factory, genericiooptions.IOStreams) *cobra.Command
}

// parent is the program's name in the help of kubectl's commands.
const parent = "stint"

// All lists the verbs.
var All = []Verb{
	{Name: "get", Short: "Show objects, one a line or in full", Needs: NeedsData, build: newGet},
	{Name: "describe", Short: "Show an object with what belongs to it", Needs: NeedsData, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return describe.NewCmdDescribe(parent, f, s)
	}},
	{Name: "logs", Short: "Print the logs of a pod or a Job's pods", Needs: NeedsData, own: newLogs},
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
	{Name: "diff", Short: "Compare a file with what is there", Needs: NeedsServer, build: diff.NewCmdDiff},
	{Name: "label", Short: "Set labels", Needs: NeedsServer, build: label.NewCmdLabel},
	{Name: "annotate", Short: "Set annotations", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return annotate.NewCmdAnnotate(parent, f, s)
	}},
	{Name: "wait", Short: "Wait for a condition", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return wait.NewCmdWait(f, s)
	}},
	{Name: "auth", Short: "Ask what one may do", Needs: NeedsServer, build: auth.NewCmdAuth},
	{Name: "cluster-info", Short: "Say where the server is", Needs: NeedsServer, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return clusterinfo.NewCmdClusterInfo(f, s)
	}},
	{Name: "api-resources", Short: "List the kinds that are served", Needs: NeedsNothing, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apiresources.NewCmdAPIResources(f, s)
	}},
	{Name: "api-versions", Short: "List the API versions that are served", Needs: NeedsNothing, build: func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apiresources.NewCmdAPIVersions(f, s)
	}},
}

func newGet(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
	cmd := get.NewCmdGet(parent, f, s)
	cmd.ValidArgsFunction = completion.ResourceTypeAndNameCompletionFunc(f)
	return cmd
}

// Build makes the verb's command, which finds its server through the connection.
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

// rename has the help speak of stint.
func rename(cmd *cobra.Command) {
	for _, text := range []*string{&cmd.Short, &cmd.Long, &cmd.Example} {
		*text = strings.ReplaceAll(*text, "kubectl", parent)
	}
	for _, sub := range cmd.Commands() {
		rename(sub)
	}
}
