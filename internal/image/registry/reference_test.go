package registry_test

import (
	"errors"
	"strings"
	"testing"

	ours "github.com/stint-dev/stint/internal/image/registry"
)

var hash = "sha256:" + strings.Repeat("0a", 32)

func TestParse(t *testing.T) {
	for name, want := range map[string]string{
		"perl":                                  "docker.io/library/perl:latest",
		"perl:5.34.0":                           "docker.io/library/perl:5.34.0",
		"perl@" + hash:                          "docker.io/library/perl@" + hash,
		"perl:5@" + hash:                        "docker.io/library/perl:5@" + hash,
		"me/perl":                               "docker.io/me/perl:latest",
		"docker.io/perl":                        "docker.io/library/perl:latest",
		"index.docker.io/library/perl":          "docker.io/library/perl:latest",
		"localhost/perl":                        "localhost/perl:latest",
		"localhost:5000/perl":                   "localhost:5000/perl:latest",
		"registry.example.com/e2e/a__b--c.d:v1": "registry.example.com/e2e/a__b--c.d:v1",
		"[::1]:5000/perl:1":                     "[::1]:5000/perl:1",
		"":                                      "", "Perl": "", "perl:": "", "perl:a b": "", "perl@sha256:12": "", "perl@" + hash + "@" + hash: "",
		"https://docker.io/perl": "", "a//b": "", "/a": "", "a/": "", "../a": "", "a/../b": "", "a/.b": "",
		"ex ample.com/a": "", "example.com:x/a": "", "[::g]/a": "", "a?b": "", "a%2fb": "", "a#b": "",
		strings.Repeat("a", 64): "", "perl:" + strings.Repeat("a", 129): "", "docker.io/" + strings.Repeat("b", 256): "",
		"-a.com/b": "", "a\nb": "", "perl@sha512:" + strings.Repeat("0", 128): "",
	} {
		r, err := ours.Parse(name)
		switch {
		case want == "" && !errors.Is(err, ours.ErrInvalidName):
			t.Errorf("%q: %v, %v", name, r, err)
		case want != "" && (err != nil || r.String() != want):
			t.Errorf("%q: %v, %v, want %s", name, r, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"perl:5.34.0", "[::1]:5000/a/b@" + hash, "localhost/x", "a/../b", "X/y"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		r, err := ours.Parse(name)
		if err != nil {
			if !errors.Is(err, ours.ErrInvalidName) || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("%q: %q", name, err)
			}
			return
		}
		again, err := ours.Parse(r.String())
		if err != nil || again != r {
			t.Errorf("%q is %s, which is %s, %v", name, r, again, err)
		}
		if strings.Contains(r.Repository, "..") || strings.ContainsAny(r.Registry, "/@?# ") {
			t.Errorf("%q: %q %q", name, r.Registry, r.Repository)
		}
	})
}
