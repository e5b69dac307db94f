package run

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/cli/manifest"
	"github.com/stint-dev/stint/internal/cli/run/dirclaim"
	"github.com/stint-dev/stint/internal/cli/target"
)

// claimIn is a claim of the flag --claim in a namespace whose pods name it.
type claimIn struct {
	namespace string
	dirclaim.Claim
}

// planClaims finds the namespaces of the claims of the flag --claim: those of the Jobs and pods that name them.
func (s *submitter) planClaims(objects []*manifest.Object) error {
	if len(s.asked) == 0 {
		return nil
	}
	if s.target.Kind == target.Cluster {
		return InputError{fmt.Errorf("%s: a directory of this machine can be a claim on this machine only, and this run is %s: "+
			"create a PersistentVolumeClaim there, or run here with --local", s.asked[0].Flag, s.target.Place())}
	}
	named := claimsNamed(objects)
	for _, claim := range s.asked {
		namespaces := named[claim.Name]
		if len(namespaces) == 0 {
			return InputError{fmt.Errorf("%s: no pod of the files has a volume of a claim %s: %s", claim.Flag, claim.Name, remedyForUnnamed(named))}
		}
		for _, namespace := range slices.Sorted(maps.Keys(namespaces)) {
			if o := defining(objects, namespace, claim.Name); o != nil {
				return manifest.Problems{{Place: o.Place, Field: "metadata.name", Message: claim.Flag + " would make this claim as well",
					Remedy: "leave out the flag, or the claim"}}
			}
			s.claims = append(s.claims, claimIn{namespace, claim})
		}
	}
	return nil
}

func remedyForUnnamed(named map[string]map[string]bool) string {
	if len(named) == 0 {
		return "they name none, so leave the flag out"
	}
	return "they name " + strings.Join(slices.Sorted(maps.Keys(named)), ", ")
}

// claimsNamed returns the names of the claims that pods of the files use, with the namespaces.
func claimsNamed(objects []*manifest.Object) map[string]map[string]bool {
	named := map[string]map[string]bool{}
	for _, o := range objects {
		for _, v := range volumesOf(o) {
			if v.PersistentVolumeClaim == nil {
				continue
			}
			name := v.PersistentVolumeClaim.ClaimName
			if named[name] == nil {
				named[name] = map[string]bool{}
			}
			named[name][o.Typed.GetNamespace()] = true
		}
	}
	return named
}

func volumesOf(o *manifest.Object) []corev1.Volume {
	if job, isJob := o.Job(); isJob {
		return job.Spec.Template.Spec.Volumes
	}
	if pod, isPod := o.Typed.(*corev1.Pod); isPod {
		return pod.Spec.Volumes
	}
	return nil
}

// defining returns the object of the files that defines a claim, nil if none does.
func defining(objects []*manifest.Object, namespace, claim string) *manifest.Object {
	for _, o := range objects {
		if o.GVK.Kind == "PersistentVolumeClaim" && o.Typed.GetNamespace() == namespace && o.Typed.GetName() == claim {
			return o
		}
	}
	return nil
}

// checkClaims refuses claims that exist and stand for something else.
func (s *submitter) checkClaims(ctx context.Context) error {
	for _, c := range s.claims {
		if err := s.claimMaker().Check(ctx, c.namespace, c.Claim); err != nil {
			return err
		}
	}
	return nil
}

func (s *submitter) makeClaims(ctx context.Context) error {
	for _, c := range s.claims {
		if err := s.claimMaker().Make(ctx, c.namespace, c.Claim); err != nil {
			return err
		}
	}
	return nil
}

func (s *submitter) claimMaker() dirclaim.Maker {
	return dirclaim.Maker{Core: s.core(), Caller: s.caller}
}
