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

// Verb is a command that can be built when it is asked for.
type Verb struct {
	Name  string
	Short string
	// Offline verbs make sense without a running server: they look at what the data directory holds.
	Offline bool
	build   func(cmdutil.Factory, genericiooptions.IOStreams) *cobra.Command
}

// parent is the program's name in the help of kubectl's commands.
const parent = "stint"

// All lists the verbs.
var All = []Verb{
	{"get", "Show objects, one a line or in full", true, newGet},
	{"describe", "Show an object with what belongs to it", true, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return describe.NewCmdDescribe(parent, f, s)
	}},
	{"logs", "Print the logs of a pod or a Job's pods", true, newLogs},
	{"events", "List events", true, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return events.NewCmdEvents(f, s)
	}},
	{"explain", "Explain the fields of a kind", true, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return explain.NewCmdExplain(parent, f, s)
	}},
	{"apply", "Create or change objects to match a file", false, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apply.NewCmdApply(parent, f, s)
	}},
	{"create", "Create objects", false, create.NewCmdCreate},
	{"delete", "Delete objects", true, delete.NewCmdDelete},
	{"patch", "Change fields of an object", false, patch.NewCmdPatch},
	{"edit", "Change an object in an editor", false, edit.NewCmdEdit},
	{"replace", "Replace an object by a file", false, replace.NewCmdReplace},
	{"diff", "Compare a file with what is there", false, diff.NewCmdDiff},
	{"label", "Set labels", false, label.NewCmdLabel},
	{"annotate", "Set annotations", false, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return annotate.NewCmdAnnotate(parent, f, s)
	}},
	{"wait", "Wait for a condition", false, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return wait.NewCmdWait(f, s)
	}},
	{"auth", "Ask what one may do", false, auth.NewCmdAuth},
	{"api-resources", "List the kinds that are served", true, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
		return apiresources.NewCmdAPIResources(f, s)
	}},
	{"api-versions", "List the API versions that are served", true, func(f cmdutil.Factory, s genericiooptions.IOStreams) *cobra.Command {
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
