package env

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

func TestFileValue(t *testing.T) {
	for text, want := range map[string]string{
		"A='1'":                        "1",
		"A='1'\n":                      "1",
		"  A='1' # one":                "1",
		"# A='0'\n\n \t\nB='2'\nA='1'": "1",
		"B='x\nA=no'\nA='1'":           "1",
		"A='first\n second'\nB='2'":    "first\n second",
		"A=''":                         "",
		"A= 'text'":                    "",
		"A='$B \"\\'":                  "$B \"\\",
		"A='1'\nnonsense":              "1",
		"B='1'":                        "missing",
		"":                             "missing",
		"nonsense\nA='1'":              "error: line 1: lacks an equals sign: write NAME='value'",
		"export B='2'\nA='1'":          "1",
		"export A='1'":                 "missing",
		"# DOS\r\nA='1'\r\n":           "1",
		"A ='1'":                       "error: line 1: there is a space before the equals sign: write NAME='value'",
		"='1'":                         "error: line 1: there is no name: write NAME='value'",
		"A=1":                          "error: line 1: the value is not in single quotes: write NAME='value'",
		"A=":                           "error: line 1: the value is not in single quotes: write NAME='value'",
		"B='\n\n'\nA=1":                "error: line 4: the value is not in single quotes: write NAME='value'",
		"A='1":                         "error: line 1: the value has no closing quote",
		"A='1'2":                       "error: line 1: there is something after the closing quote",
	} {
		got, found, err := fileValue(text, "A")
		switch {
		case err != nil:
			got = "error: " + err.Error()
		case !found:
			got = "missing"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestFileKey(t *testing.T) {
	dir := t.TempDir()
	volume := filepath.Join(dir, "shared")
	secret := filepath.Join(dir, "secret")
	write := func(path, text string) {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(volume, "sub", "env"), "A='1'")
	write(secret, "A='stolen'")
	write(filepath.Join(volume, "large"), strings.Repeat("# nothing\n", maxFile/10+1))
	for name, to := range map[string]string{"link": secret, "up": "../secret", "inside": "/sub/env"} {
		if err := os.Symlink(to, filepath.Join(volume, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(volume, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"sub/env": "1",
		"inside":  "1",
		"none":    "error: file none of volume shared: no such file or directory",
		"link":    "error: file link of volume shared: no such file or directory",
		"up":      "error: file up of volume shared: no such file or directory",
		"pipe":    "error: file pipe of volume shared: is not a regular file",
		"sub":     "error: file sub of volume shared: is not a regular file",
		"large":   "error: file large of volume shared: is larger than 1048576 bytes",
	} {
		got, _, err := fileKey(dir, &corev1.FileKeySelector{VolumeName: "shared", Path: path, Key: "A"})
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	for path, key := range map[string]string{"none": "A", "sub/env": "B"} {
		ref := &corev1.FileKeySelector{VolumeName: "shared", Path: path, Key: key, Optional: ptr.To(true)}
		if _, found, err := fileKey(dir, ref); found || err != nil {
			t.Errorf("optional %s in %s: %t, %v", key, path, found, err)
		}
	}
	if _, _, err := fileKey(dir, &corev1.FileKeySelector{VolumeName: "shared", Path: "sub/env", Key: "B"}); err == nil {
		t.Error("a missing variable is no error")
	}
}
