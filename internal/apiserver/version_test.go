package apiserver

import (
	"os"
	"strings"
	"testing"
)

func TestTheVersionShownIsThatOfTheLibrary(t *testing.T) {
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	want := "k8s.io/apiserver v0" + strings.TrimPrefix(libraryVersion, "v1")
	if !strings.Contains(string(mod), want+"\n") {
		t.Errorf("go.mod does not have %q: bring libraryVersion (%s) up to date", want, libraryVersion)
	}
	if got := newVersion().Info().GitVersion; !strings.HasPrefix(got, "v1.") {
		t.Errorf("version %s", got)
	}
}
