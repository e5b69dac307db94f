package podlogs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/node/podlogs"
)

// A result is an object that users may write.
func TestAResultDoesNotLeadToFilesThatAreNoLogs(t *testing.T) {
	base := t.TempDir()
	data, decoy := filepath.Join(base, "data"), filepath.Join(base, "decoy")
	for _, dir := range []string{decoy, filepath.Join(data, "logs", "default_pod_uid", "main")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	line := "2026-01-02T15:04:05.999999999Z stdout F secret\n"
	if err := os.WriteFile(filepath.Join(decoy, "0.log"), []byte(line), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		pod, uid, container string
	}{
		"the container": {"pod", "uid", "../../../../decoy"},
		"the UID":       {"pod", "uid/../../../decoy/..", "decoy"},
		"the pod":       {"../../../decoy/../x", "uid", "../decoy"},
	} {
		t.Run(name, func(t *testing.T) {
			result := &stintv1.PodResult{Pod: of.pod, UID: types.UID(of.uid)}
			log, err := podlogs.Stored(data).AttemptLogs(t.Context(), "default", result, 0, &corev1.PodLogOptions{Container: of.container})
			if err == nil {
				log.Close()
			}
			if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "is n") {
				t.Errorf("read with %v", err)
			}
		})
	}
}
