package registry

import (
	"fmt"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// maxPlatforms is how many platforms an error lists.
const maxPlatforms = 30

// thisPlatform is the platform of this machine.
func thisPlatform() v1.Platform {
	p := v1.Platform{OS: "linux", Architecture: runtime.GOARCH}
	switch p.Architecture {
	case "arm":
		p.Variant = "v7"
	case "arm64":
		p.Variant = "v8"
	}
	return p
}

// variants returns the variants that run on p, the best first. No variant means one that nearly every such machine can run.
//
//	amd64   v3: v3 v2 v1, none: v1
//	arm     v7: v7 v6 v5, none: v7 v6 v5
//	arm64   v9: v9 v8, none: v8
func variants(p v1.Platform) []string {
	var newest, oldest int
	switch p.Architecture {
	case "amd64":
		newest, oldest = 1, 1
	case "arm":
		newest, oldest = 7, 5
	case "arm64":
		newest, oldest = 8, 8
	default:
		return []string{p.Variant}
	}
	if p.Variant != "" {
		// A variant without a number only matches itself.
		if _, err := fmt.Sscanf(p.Variant, "v%d", &newest); err != nil || newest < oldest || newest > 20 {
			return []string{p.Variant}
		}
	}
	var list []string
	for v := newest; v >= oldest; v-- {
		list = append(list, fmt.Sprintf("v%d", v))
	}
	return list
}

// variantOf returns the variant of p or, if it has none, the usual one of its architecture.
func variantOf(p v1.Platform) string {
	if p.Variant != "" {
		return p.Variant
	}
	return map[string]string{"amd64": "v1", "arm": "v7", "arm64": "v8"}[p.Architecture]
}

// rank returns how well p suits want: 0 is best, -1 is not at all.
func rank(want, p v1.Platform) int {
	if p.OS != want.OS || p.Architecture != want.Architecture {
		return -1
	}
	return slices.Index(variants(want), variantOf(p))
}

// Runs reports whether this machine runs images for p.
func Runs(p v1.Platform) bool { return rank(thisPlatform(), p) >= 0 }

// Choose returns the entry of an index that suits this machine best.
func Choose(entries []v1.Descriptor) (v1.Descriptor, error) { return choose(thisPlatform(), entries) }

// choose returns the entry of an index that suits want best. An entry without a platform is chosen only if it is the only one.
func choose(want v1.Platform, entries []v1.Descriptor) (v1.Descriptor, error) {
	best, at := -1, -1
	var there []string
	silent := -1
	for i, d := range entries {
		if d.Platform == nil {
			silent = i
			continue
		}
		if d.Platform.OS == "unknown" {
			continue // An attestation, not an image.
		}
		there = append(there, d.Platform.String())
		if r := rank(want, *d.Platform); r >= 0 && (at < 0 || r < best) {
			best, at = r, i
		}
	}
	if at < 0 && len(entries) == 1 {
		at = silent
	}
	if at < 0 {
		return v1.Descriptor{}, noPlatform(want, there)
	}
	if !known(entries[at].Digest) {
		return v1.Descriptor{}, unsupported("the index has no sha256 digest for %s", want)
	}
	return entries[at], nil
}

func noPlatform(want v1.Platform, there []string) error {
	slices.Sort(there)
	there = slices.Compact(there)
	list := strings.Join(there[:min(len(there), maxPlatforms)], ", ")
	switch {
	case len(there) == 0:
		list = "no platform"
	case len(there) > maxPlatforms:
		list += fmt.Sprintf(" and %d more", len(there)-maxPlatforms)
	}
	return &Error{Kind: ErrNoPlatform, Detail: fmt.Sprintf("this machine is %s, the image is for", want), said: list}
}
