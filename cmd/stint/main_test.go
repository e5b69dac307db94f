package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// programVariable makes the test binary run main.
const programVariable = "STINT_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(programVariable) != "" {
		main()
	}
	os.Exit(m.Run())
}

const manifest = `
apiVersion: batch/v1
kind: Job
metadata: {name: look}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: none, command: [sh, -c, "cat <&3; ls -l /proc/self/fd; true"]}
`

// runWith runs a Job by `stint run` with a file as descriptor 3, and returns what it printed.
func runWith(t *testing.T, file *os.File) string {
	t.Helper()
	dir := t.TempDir()
	job := filepath.Join(dir, "job.yaml")
	if err := os.WriteFile(job, []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "run", "--runtime", "process", "-f", job, "--data-dir", filepath.Join(dir, "data"))
	cmd.Env = append(os.Environ(), programVariable+"=1", "KUBECONFIG=")
	cmd.ExtraFiles = []*os.File{file}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestWhatTheCallerHasOpenReachesNoContainerAndOutlivesNoRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "private")
	if err := os.WriteFile(path, []byte("a secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	out := runWith(t, file)
	if strings.Contains(out, "a secret") || strings.Contains(out, path) || !strings.Contains(out, "/dev/null") {
		t.Errorf("a container has printed:\n%s", out)
	}
	file.Close()
	again, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	// The host process still runs for a while.
	if err := unix.Flock(int(again.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		t.Errorf("the lock has outlived its owner: %v", err)
	}
}
