// Package verbs builds kubectl's own commands into stint. They talk to whatever stint talks to: the cluster of a
// kubeconfig, the server on the data directory, or, for looking at what was, a server inside this process.
package verbs

import (
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/kubectl/pkg/cmd/annotate"
	"k8s.io/kubectl/pkg/cmd/apiresources"
	"k8s.io/kubectl/pkg/cmd/apply"
	"k8s.io/kubectl/pkg/cmd/auth"
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
}

// parent is the program's name in the help of kubectl's commands.
const parent = "stint"

// All lists the verbs.
var All = []Verb{
	{"get", "Show objects, one a line or in full", NeedsData, newGet},
	{"describe", "Show an object with what belongs to it", NeedsData, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return describe.NewCmdDescribe(parent, f, s)
	}},
	{"logs", "Print the logs of a pod or a Job's pods", NeedsData, newLogs},
	{"events", "List events", NeedsData, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return events.NewCmdEvents(f, s)
	}},
	{"explain", "Explain the fields of a kind", NeedsNothing, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return explain.NewCmdExplain(parent, f, s)
	}},
	{"apply", "Create or change objects to match a file", NeedsServer, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apply.NewCmdApply(parent, f, s)
	}},
	{"create", "Create objects", NeedsServer, create.NewCmdCreate},
	{"delete", "Delete objects", NeedsData, delete.NewCmdDelete},
	{"patch", "Change fields of an object", NeedsServer, patch.NewCmdPatch},
	{"edit", "Change an object in an editor", NeedsServer, edit.NewCmdEdit},
	{"replace", "Replace an object by a file", NeedsServer, replace.NewCmdReplace},
	{"diff", "Compare a file with what is there", NeedsServer, diff.NewCmdDiff},
	{"label", "Set labels", NeedsServer, label.NewCmdLabel},
	{"annotate", "Set annotations", NeedsServer, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return annotate.NewCmdAnnotate(parent, f, s)
	}},
	{"wait", "Wait for a condition", NeedsServer, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return wait.NewCmdWait(f, s)
	}},
	{"auth", "Ask what one may do", NeedsServer, auth.NewCmdAuth},
	{"api-resources", "List the kinds that are served", NeedsNothing, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apiresources.NewCmdAPIResources(f, s)
	}},
	{"api-versions", "List the API versions that are served", NeedsNothing, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apiresources.NewCmdAPIVersions(f, s)
	}},
}

func newGet(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
	cmd := get.NewCmdGet(parent, f, s)
	cmd.ValidArgsFunction = completion.ResourceTypeAndNameCompletionFunc(f)
	return cmd
}

// Build makes the verb's command, which finds its server through getter.
func (v Verb) Build(getter genericclioptions.RESTClientGetter, streams genericiooptions.IOStreams) *cobra.Command {
	f := cmdutil.NewFactory(cmdutil.NewMatchVersionFlags(getter))
	completion.SetFactoryForCompletion(f)
	cmd := v.build(f, streams)
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
