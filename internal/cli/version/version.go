// Package version is stint version, and returns the version of this program.
package version

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/version"

	"github.com/stint-dev/stint/internal/cli/command"
)

// Version is set by the linker. After go install, Get returns the version of the module instead.
var Version = "dev"

// Info is the output of stint version.
type Info struct {
	Version string `json:"version"`
	// Kubernetes is the version of the API that is served.
	Kubernetes string `json:"kubernetes"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

// NewInfo returns the versions of this program.
func NewInfo() Info {
	return Info{Version: Get(), Kubernetes: kubernetesVersion(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
}

func (v Info) String() string {
	return fmt.Sprintf("stint %s (Kubernetes %s, %s, %s)", v.Version, v.Kubernetes, v.Go, v.Platform)
}

// NewCommand returns the command stint version.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: command.GroupOther,
		Args:    command.Exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			info := NewInfo()
			switch format {
			case "":
				_, err := fmt.Fprintln(streams.Out, info)
				return err
			case "json":
				encoder := json.NewEncoder(streams.Out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(info)
			}
			return command.BadInputf("-o %s is not supported: use -o json", format)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "", "json")
	return cmd
}

// Get returns the version of this program, as it was linked or installed.
func Get() string {
	if Version != "dev" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return Version
}

// kubernetesVersion returns the Kubernetes release of the libraries: v0.37.2 of k8s.io/api is v1.37.2.
func kubernetesVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return version.Get().GitVersion
	}
	for _, dependency := range info.Deps {
		if release, ok := strings.CutPrefix(dependency.Version, "v0."); ok && dependency.Path == "k8s.io/api" {
			return "v1." + release
		}
	}
	return version.Get().GitVersion
}
