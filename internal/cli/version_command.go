package cli

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/component-base/version"
)

// Version is set when the binary is linked; a go install has it from the module.
var Version = "dev"

type versionInfo struct {
	Version string `json:"version"`
	// Kubernetes is the version of the API that is served.
	Kubernetes string `json:"kubernetes"`
	Go         string `json:"go"`
	Platform   string `json:"platform"`
}

func newVersionInfo() versionInfo {
	return versionInfo{Version: stintVersion(), Kubernetes: kubernetesVersion(), Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
}

func (v versionInfo) String() string {
	return fmt.Sprintf("stint %s (Kubernetes %s, %s, %s)", v.Version, v.Kubernetes, v.Go, v.Platform)
}

func newVersion(streams genericiooptions.IOStreams) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		GroupID: groupOther,
		Args:    exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			info := newVersionInfo()
			switch format {
			case "":
				_, err := fmt.Fprintln(streams.Out, info)
				return err
			case "json":
				encoder := json.NewEncoder(streams.Out)
				encoder.SetIndent("", "  ")
				return encoder.Encode(info)
			}
			return badInputf("-o %s is not there: use -o json", format)
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "", "json")
	return cmd
}

func stintVersion() string {
	if Version != "dev" {
		return Version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return Version
}

// kubernetesVersion is the release that the libraries belong to: v0.37.2 of them is v1.37.2 of Kubernetes.
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
