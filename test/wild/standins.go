package main

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	corev1 "k8s.io/api/core/v1"
)

// These are in the configuration of the stand-ins' images.
const (
	imageUser = 1000
	imageHome = "/home/app"
	imageDir  = "/srv"
	imagePath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	program   = "/.stand-in"
)

var (
	imageEntrypoint = []string{"/usr/bin/entrypoint", "of the image"}
	imageCommand    = []string{"argument of the image"}
	imageEnv        = []string{"PATH=" + imagePath, "OF_IMAGE=yes"}
)

// interpreters run scripts that volumes hold.
var interpreters = []string{"/bin/sh", "/bin/bash", "/usr/bin/bash", "/usr/bin/env", "/usr/bin/python", "/usr/bin/python3", "/usr/bin/perl"}

// serveStandIns serves an image under every name in the files, and configures the user's stint to pull from there.
func serveStandIns(ctx context.Context, dir string, files []*file, o options) error {
	base, err := baseLayer(ctx, o)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: registry.New(registry.Logger(log.New(io.Discard, "", 0))), ReadHeaderTimeout: time.Minute}
	go server.Serve(listener) //nolint:errcheck // it ends with this program
	host := listener.Addr().String()
	commands := commandsByImage(files, o.shell)
	for _, at := range slices.Sorted(maps.Keys(commands)) {
		if err := push(ctx, host+"/"+at, base, slices.Sorted(maps.Keys(commands[at]))); err != nil {
			return fmt.Errorf("%s: %w", at, err)
		}
	}
	hosts := filepath.Join(dir, "config", "stint", "registries.d", "_default")
	if err := os.MkdirAll(hosts, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(hosts, "hosts.toml"), fmt.Appendf(nil, "server = %q\n", "http://"+host), 0o644)
}

// commandsByImage returns the paths of the programs that the stand-in of each image needs, by repository and tag.
func commandsByImage(files []*file, shell bool) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, f := range files {
		for _, j := range f.jobs {
			for _, c := range j.containers() {
				ref, err := name.ParseReference(c.Image)
				if err != nil {
					continue
				}
				at := ref.Context().RepositoryStr() + ":" + ref.Identifier()
				if all[at] == nil {
					all[at] = map[string]bool{imageEntrypoint[0]: true}
				}
				if len(c.Command) > 0 && !isMounted(c, pathOf(c.Command[0], c.WorkingDir)) {
					all[at][pathOf(c.Command[0], c.WorkingDir)] = true
				}
				if !shell {
					continue
				}
				for _, command := range namedBy(f, slices.Concat(c.Command, c.Args)) {
					all[at][command] = true
				}
			}
		}
	}
	return all
}

// isMounted reports whether a program is a volume's file, which is mounted by itself or with its directory.
func isMounted(c *corev1.Container, program string) bool {
	return slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool {
		at := path.Clean(m.MountPath)
		return at == program || strings.HasPrefix(program, at+"/")
	})
}

// pathOf returns where the stand-in of a command is.
func pathOf(command, dir string) string {
	switch {
	case path.IsAbs(command):
		return path.Clean(command)
	case strings.Contains(command, "/"):
		return path.Join("/", dirOf(dir), command)
	}
	return "/usr/bin/" + command
}

func dirOf(dir string) string {
	if dir == "" {
		return imageDir
	}
	return dir
}

// inCommandPosition matches the names of programs in scripts. It also matches other words, which does no harm.
var inCommandPosition = regexp.MustCompile(`(?m)(?:^|[;&|(]|\b(?:then|do|else|exec|if|while|until|time|sudo|xargs)\b|!)[ \t]*([A-Za-z0-9_./-]+)`)

// namedBy returns the programs that scripts of a file name: those of a container and those in ConfigMaps.
func namedBy(f *file, args []string) []string {
	texts := slices.Clone(args)
	for _, c := range f.companions {
		if data, ok := c.Object["data"].(map[string]any); ok && c.GetKind() == "ConfigMap" {
			for _, text := range data {
				texts = append(texts, fmt.Sprint(text))
			}
		}
	}
	var found []string
	for _, text := range texts {
		for _, match := range inCommandPosition.FindAllStringSubmatch(text, -1) {
			if word := match[1]; strings.Trim(word, "./-") != "" && !strings.HasSuffix(word, "/") {
				found = append(found, pathOf(word, ""))
			}
		}
	}
	return found
}

func push(ctx context.Context, at string, base v1.Layer, commands []string) error {
	files := map[string]*tar.Header{}
	for _, c := range commands {
		files[strings.TrimPrefix(c, "/")] = &tar.Header{Typeflag: tar.TypeSymlink, Linkname: program}
	}
	for c := range files {
		for parent := path.Dir(c); parent != "."; parent = path.Dir(parent) {
			delete(files, parent)
		}
	}
	links, err := layerOf(files, nil)
	if err != nil {
		return err
	}
	// The base layer comes last: where scripts need its busybox, a stand-in must not replace it.
	image, err := mutate.AppendLayers(empty.Image, links, base)
	if err != nil {
		return err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	config.Config = v1.Config{Entrypoint: imageEntrypoint, Cmd: imageCommand, Env: imageEnv, WorkingDir: imageDir, User: fmt.Sprint(imageUser)}
	if image, err = mutate.ConfigFile(image, config); err != nil {
		return err
	}
	ref, err := name.ParseReference(at, name.Insecure)
	if err != nil {
		return err
	}
	return remote.Write(ref, image, remote.WithContext(ctx))
}

func buildStandIn(ctx context.Context, to string) error {
	build := exec.CommandContext(ctx, "go", "build", "-o", to, "./test/wild/standin")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the stand-in: %w\n%s", err, out)
	}
	return nil
}

// baseLayer has the stand-in, the image's user and, for scripts, busybox.
func baseLayer(ctx context.Context, o options) (v1.Layer, error) {
	files := map[string]*tar.Header{
		"tmp":      {Typeflag: tar.TypeDir, Mode: 0o1777},
		"srv":      {Typeflag: tar.TypeDir, Mode: 0o777},
		"home/app": {Typeflag: tar.TypeDir, Mode: 0o755, Uid: imageUser},
	}
	content := map[string][]byte{
		"etc/passwd": []byte("root:x:0:0:root:/root:/bin/sh\napp:x:1000:1000::" + imageHome + ":/bin/sh\n"),
		"etc/group":  []byte("root:x:0:\napp:x:1000:\nextra:x:1001:app\n"),
	}
	var err error
	if content[program[1:]], err = os.ReadFile(o.standIn); err != nil {
		return nil, err
	}
	if !o.shell {
		for _, i := range interpreters {
			files[i[1:]] = &tar.Header{Typeflag: tar.TypeSymlink, Linkname: program}
		}
		return layerOf(files, content)
	}
	if err := addBusybox(ctx, files, content); err != nil {
		return nil, err
	}
	return layerOf(files, content)
}

// reachOut are the programs of busybox that need a network, or wait: stand-ins are used in their place.
var reachOut = []string{"wget", "nc", "ping", "nslookup", "sleep", "telnet", "ftpget", "ftpput", "ssl_client", "usleep", "arping", "traceroute"}

func addBusybox(ctx context.Context, files map[string]*tar.Header, content map[string][]byte) error {
	at, err := exec.LookPath("busybox")
	if err != nil {
		return fmt.Errorf("scripts need busybox-static: %w", err)
	}
	if content["bin/busybox"], err = os.ReadFile(at); err != nil {
		return err
	}
	list, err := exec.CommandContext(ctx, at, "--list").Output()
	if err != nil {
		return err
	}
	for _, applet := range strings.Fields(string(list)) {
		to := "/bin/busybox"
		if slices.Contains(reachOut, applet) {
			to = program
		}
		if applet != "busybox" {
			files["bin/"+applet] = &tar.Header{Typeflag: tar.TypeSymlink, Linkname: to}
			files["usr/bin/"+applet] = &tar.Header{Typeflag: tar.TypeSymlink, Linkname: to}
		}
	}
	bash, err := os.ReadFile("/bin/bash-static")
	if err != nil {
		return fmt.Errorf("scripts need bash-static: %w", err)
	}
	content["bin/bash"], content["usr/bin/bash"] = bash, bash
	return nil
}

func layerOf(files map[string]*tar.Header, content map[string][]byte) (v1.Layer, error) {
	for at, text := range content {
		files[at] = &tar.Header{Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(text))}
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, at := range slices.Sorted(maps.Keys(files)) {
		files[at].Name = at
		if err := w.WriteHeader(files[at]); err != nil {
			return nil, err
		}
		if _, err := w.Write(content[at]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
}
