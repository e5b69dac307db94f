// Package dirclaim makes PersistentVolumeClaims that stand for directories of this machine, as `stint run --claim NAME=DIR`
// asks: a claim, and a PersistentVolume with the directory that is bound to no other claim.
//
// Neither belongs to a run: they stay, and the next run finds them. The directory is the user's, and is never deleted.
package dirclaim

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/target"
)

// Claim is a claim by name, and the directory that it stands for.
type Claim struct {
	Name string
	// Dir is absolute and leads through no symbolic link.
	Dir string
	// Flag is what the user gave, for errors.
	Flag string
}

// Parse reads the values of --claim.
func Parse(values []string) ([]Claim, error) {
	var claims []Claim
	seen := map[string]bool{}
	for _, value := range values {
		c, err := parse(value)
		if err != nil {
			return nil, err
		}
		if seen[c.Name] {
			return nil, command.BadInputf("--claim names %q twice: a claim stands for one directory", c.Name)
		}
		seen[c.Name] = true
		claims = append(claims, c)
	}
	return claims, nil
}

func parse(value string) (Claim, error) {
	c := Claim{Flag: "--claim " + value}
	name, dir, ok := strings.Cut(value, "=")
	if !ok || dir == "" {
		return c, command.BadInputf("%s: write NAME=DIR, such as --claim data=./data", c.Flag)
	}
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return c, command.BadInputf("%s: %q cannot be the name of a PersistentVolumeClaim: %s", c.Flag, name, strings.Join(wrong, "; "))
	}
	c.Name = name
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, command.BadInputf("%s: there is no such directory: make it with mkdir -p %s", c.Flag, target.ShellWord(dir))
	case err != nil:
		return c, command.BadInputf("%s: %w", c.Flag, err)
	case !info.IsDir():
		return c, command.BadInputf("%s: %s is not a directory: name the directory that has the files of the claim", c.Flag, dir)
	}
	if c.Dir, err = resolved(dir); err != nil {
		return c, command.BadInputf("%s: %w", c.Flag, err)
	}
	return c, nil
}

func resolved(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(dir)
}

// VolumeName returns the name of the claim's PersistentVolume. No namespace has a dot, so no two claims have the same.
func (c Claim) VolumeName(namespace string) string { return "claim-" + namespace + "." + c.Name }

// size is that of every claim here. A directory has the size that its file system has, so nothing depends on it.
var size = resource.MustParse("1Gi")

// accessModes allow everything that one machine can do.
var accessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteMany}

// volume returns the PersistentVolume of the claim.
func (c Claim) volume(namespace string) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: c.VolumeName(namespace)},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:                      corev1.ResourceList{corev1.ResourceStorage: size},
			AccessModes:                   accessModes,
			PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			ClaimRef:                      &corev1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: namespace, Name: c.Name},
			PersistentVolumeSource: corev1.PersistentVolumeSource{
				HostPath: &corev1.HostPathVolumeSource{Path: c.Dir, Type: ptr.To(corev1.HostPathDirectory)}},
		},
	}
}

// claim returns the PersistentVolumeClaim.
func (c Claim) claim(namespace string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: c.Name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      accessModes,
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: size}},
			StorageClassName: ptr.To(""),
			VolumeName:       c.VolumeName(namespace),
		},
	}
}
