package apiserver

import (
	"strings"

	apimachineryversion "k8s.io/apimachinery/pkg/version"
	apicompatibility "k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/component-base/compatibility"
)

// libraryVersion is the Kubernetes release of the libraries in go.mod. A test compares the two.
const libraryVersion = "v1.37.2"

// newVersion returns the version for /version: the one set by the linker or, after a plain `go build`, the release of the
// libraries instead of 0.0.0.
func newVersion() compatibility.EffectiveVersion {
	return effectiveVersion{apicompatibility.DefaultBuildEffectiveVersion()}
}

type effectiveVersion struct{ compatibility.EffectiveVersion }

func (v effectiveVersion) Info() *apimachineryversion.Info {
	info := *v.EffectiveVersion.Info()
	if strings.HasPrefix(info.GitVersion, "v0.0.0") {
		info.GitVersion = libraryVersion
		info.Major, info.Minor = "1", "37"
		info.GitCommit, info.GitTreeState = "", ""
	}
	return &info
}
