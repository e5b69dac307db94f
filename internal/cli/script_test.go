package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/userns"
	"github.com/stint-dev/stint/test/await"
	"github.com/stint-dev/stint/test/images"
	"github.com/stint-dev/stint/test/unprivileged"
)

// TestMain makes this test binary the stint that the scripts call, and the host process that stint starts.
func TestMain(m *testing.M) {
	if handled, code := process.HostMain(os.Args); handled {
		os.Exit(code)
	}
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	testscript.Main(m, map[string]func(){
		"stint": func() {
			os.Exit(Main(os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}))
		},
	})
}

// The scripts run the whole program against real servers on data directories of their own.
func TestImagesWithoutRoot(t *testing.T) {
	unprivileged.Run(t, "^TestScripts$/^(images|patterns)", "../../examples", exampleImages)
}

func TestImagesWithSubordinateIDs(t *testing.T) {
	unprivileged.WithSubordinateIDs(t, "^TestScripts$/^(images|patterns)", "../../examples", exampleImages)
}

// exampleImages has the images of examples/patterns, after make example-images.
const exampleImages = "../../bin/images"

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts servers")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("STINT_DATA_DIR", e.WorkDir+"/data")
			// Containers run programs of this machine, unless a script is about images.
			e.Setenv("STINT_RUNTIME", "process")
			e.Setenv("TERM", "dumb")
			e.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			e.Setenv("DOCS", filepath.Join(root, "docs"))
			e.Setenv("IMAGES", filepath.Join(root, "bin", "images"))
			e.Defer(func() { endPods(e.WorkDir) })
			return nil
		},
		Condition: func(what string) (bool, error) {
			switch what {
			case "images":
				_, err := exec.LookPath("busybox")
				return err == nil && exec.Command("unshare", "--user", "true").Run() == nil, nil
			case "root":
				return os.Geteuid() == 0, nil
			case "networks":
				return exec.Command("unshare", "--user", "--net", "true").Run() == nil, nil
			case "example-images":
				_, err := os.Stat(filepath.Join(root, "bin", "images", "redis.tar"))
				return err == nil, nil
			case "groups":
				return os.Geteuid() == 0 || userns.Own().SingleIDReason == nil, nil
			}
			return false, fmt.Errorf("there is no condition %q", what)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"archive": archiveImage,
			"exits":   exits,
			"await":   awaitFile,
			"becomes": becomes,
			"expand":  expand,
			"follow":  follow,
			"mirror":  mirrorArchives,
			"save":    saveBlocks,
			"serve":   serveImage,
		},
	})
}

// endPods kills the host processes, and so the pods, that a failed script has left behind.
func endPods(dir string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		line, _ := os.ReadFile(path)
		_, arguments, isHost := strings.Cut(string(line), "container-host")
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil && isHost && strings.Contains(arguments, dir+"/") {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// exits runs a command that must end with a status: exits 2 stint run -f none.yaml
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS COMMAND…")
	}
	script := `"$@"; status=$?; [ $status = ` + args[0] + ` ] || { echo "exit status $status, want ` + args[0] + `" >&2; exit 1; }`
	ts.Check(ts.Exec("sh", append([]string{"-c", script, "sh"}, args[1:]...)...))
}

// script is the testing.TB of a script, for package await.
type script struct {
	testing.TB
	ts *testscript.TestScript
}

func (script) Helper() {}

func (s script) Cleanup(f func()) { s.ts.Defer(f) }

func (s script) Fatal(args ...any) { s.ts.Fatalf("%v", args) }

func (s script) Skip(args ...any) { s.ts.Fatalf("skip: %v", args) }

func (s script) Fatalf(format string, args ...any) { s.ts.Fatalf(format, args...) }

// awaitFile waits until a file is not empty: await FILE
func awaitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	await.Until(script{ts: ts}, args[0], func() bool {
		info, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil && info.Size() > 0
	})
}

// becomes runs a command until its output matches: becomes '^done$' stint get …
func becomes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: becomes REGEXP COMMAND…")
	}
	wanted := regexp.MustCompile("(?m)" + args[0])
	await.Until(script{ts: ts}, args[0], func() bool {
		return ts.Exec(args[1], args[2:]...) == nil && wanted.MatchString(ts.ReadFile("stdout"))
	})
}

// expand replaces $VARIABLES in a file.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: expand FILE")
	}
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// follow runs a stint command that the output suggests, unchanged: follow resume. Its last flag must be --data-dir.
func follow(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: follow VERB")
	}
	hint := regexp.MustCompile("stint " + args[0] + " .*?--data-dir '[^']*'").FindString(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	if hint == "" {
		ts.Fatalf("no stint %s was printed that has --data-dir", args[0])
	}
	ts.Check(ts.Exec("sh", "-c", hint))
}

// archiveImage writes an image with busybox as docker save does: archive FILE NAME ENTRYPOINT…
func archiveImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: archive FILE NAME ENTRYPOINT…")
	}
	t := script{ts: ts}
	tag, err := name.NewTag(args[1])
	ts.Check(err)
	ts.Check(tarball.WriteToFile(ts.MkAbs(args[0]), tag, busybox(t, args[2:])))
}

func busybox(t testing.TB, entrypoint []string) v1.Image {
	return images.Image(t, v1.Config{Entrypoint: entrypoint, Env: []string{"PATH=/bin", "OF_IMAGE=yes"}, User: "7:8", WorkingDir: "/tmp"}, images.Busybox(t))
}

// mirrorArchives serves images from a registry that is the mirror of docker.io in the user's hosts.toml: mirror ARCHIVE…
func mirrorArchives(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: mirror ARCHIVE…")
	}
	t := script{ts: ts}
	served := map[string]v1.Image{}
	for _, archive := range args {
		image, err := tarball.ImageFromPath(ts.MkAbs(archive), nil)
		ts.Check(err)
		served["library/"+strings.TrimSuffix(filepath.Base(archive), ".tar")] = image
	}
	mirrorDockerHub(ts, images.Serve(t, served))
}

func mirrorDockerHub(ts *testscript.TestScript, host string) {
	images.Hosts(script{ts: ts}, filepath.Join(ts.Getenv("HOME"), ".config", "stint", "registries.d"), "docker.io", host)
}

// serveImage serves an image with busybox, behind a login, from a registry that is the mirror of docker.io in the user's
// hosts.toml: serve NAME USER PASSWORD ENTRYPOINT…
func serveImage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: serve NAME USER PASSWORD ENTRYPOINT…")
	}
	t := script{ts: ts}
	host := images.ServeBehind(t, map[string]v1.Image{args[0]: busybox(t, args[3:])}, images.Login(args[1], args[2]))
	mirrorDockerHub(ts, host)
}
