package dirclaim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/cli/target"
)

func TestParse(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	if err := os.Mkdir("data", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("data", "link"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for value, want := range map[string]string{
		"a=data": "data", "a=./data/": "data", "a.b=link": "data", "a=" + dir: "", "a=.": "", "a=data/../link": "data",
	} {
		claims, err := Parse([]string{value})
		if err != nil || len(claims) != 1 || claims[0].Dir != filepath.Join(dir, want) {
			t.Errorf("%s: %v, %v, want the directory %q", value, claims, err, want)
		}
	}
	for value, wrong := range map[string]string{
		"data":     "write NAME=DIR",
		"a=":       "write NAME=DIR",
		"=data":    "cannot be the name of a PersistentVolumeClaim",
		"Data=.":   "cannot be the name of a PersistentVolumeClaim",
		"a=no dir": "make it with mkdir -p 'no dir'",
		"a=file":   "file is not a directory",
	} {
		if _, err := Parse([]string{value}); err == nil || !strings.HasPrefix(err.Error(), "--claim "+value+": ") || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%s: the error is %v, want %q", value, err, wrong)
		}
	}
	if _, err := Parse([]string{"a=data", "b=.", "a=."}); err == nil || !strings.Contains(err.Error(), `"a" twice`) {
		t.Errorf("one claim of two directories: %v", err)
	}
}

// A namespace has no dot, and the name of a claim may have one.
func TestVolumesOfDifferentClaimsHaveDifferentNames(t *testing.T) {
	one, other := Claim{Name: "b-c"}.VolumeName("a"), Claim{Name: "c"}.VolumeName("a-b")
	if one == other {
		t.Errorf("both are %s", one)
	}
}

func TestNext(t *testing.T) {
	c := Claim{Name: "data", Dir: "/srv/data", Flag: "--claim data=/srv/data"}
	now := ptr.To(metav1.Now())
	claim := func(change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
		made := c.claim("ns")
		for _, f := range change {
			f(made)
		}
		return made
	}
	volume := func(change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		made := c.volume("ns")
		for _, f := range change {
			f(made)
		}
		return made
	}
	bound := func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.UID = types.UID("1") }
	elsewhere := func(v *corev1.PersistentVolume) { v.Spec.HostPath.Path = "/srv/other" }
	for sentence, tc := range map[string]struct {
		claim  *corev1.PersistentVolumeClaim
		volume *corev1.PersistentVolume
		want   step
		wrong  string
	}{
		"nothing exists":                         {nil, nil, makeVolume, ""},
		"the volume was made":                    {nil, volume(), makeClaim, ""},
		"both were made":                         {claim(), volume(), done, ""},
		"both are bound":                         {claim(), volume(bound), done, ""},
		"the claim was deleted":                  {nil, volume(bound), deleteVolume, ""},
		"the volume is of another directory":     {nil, volume(elsewhere), deleteVolume, ""},
		"the old volume is being deleted":        {nil, volume(func(v *corev1.PersistentVolume) { v.DeletionTimestamp = now }), awaitDeletion, ""},
		"the volume was deleted":                 {claim(), nil, makeVolume, ""},
		"the claim stands for another":           {claim(), volume(elsewhere), done, "stands for /srv/other: to change that, delete it with stint delete pvc data -n ns"},
		"the claim is being deleted":             {claim(func(c *corev1.PersistentVolumeClaim) { c.DeletionTimestamp = now }), volume(), done, "is being deleted"},
		"the claim is of another volume":         {claim(func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "pvc-1" }), nil, done, "leave the flag out to use it"},
		"the claim has lost its volume":          {claim(func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost }), nil, done, "has lost its volume"},
		"the volume is of another claim":         {nil, volume(func(v *corev1.PersistentVolume) { v.Spec.ClaimRef.Name = "other" }), done, "stint delete pv claim-ns.data"},
		"the volume is of no claim":              {nil, volume(func(v *corev1.PersistentVolume) { v.Spec.ClaimRef = nil }), done, "that is not of this claim"},
		"the volume is no directory of hostPath": {claim(), volume(func(v *corev1.PersistentVolume) { v.Spec.HostPath = nil }), done, "that is not of this claim"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := c.next("ns", tc.claim, tc.volume, target.Caller{Namespace: "default"})
			if got != tc.want {
				t.Errorf("step %d, want %d", got, tc.want)
			}
			if (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("error %v, want %q", err, tc.wrong)
			}
		})
	}
}
