package images_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/registry/credentials"
	"github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/test/await"
	build "github.com/stint-dev/stint/test/images"
)

func TestMain(m *testing.M) {
	if handled, code := store.ChildMain(os.Args); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// manager is a Manager whose calls of wake and record are kept.
type manager struct {
	*images.Manager
	t      *testing.T
	woken  chan types.UID
	events chan images.Event
}

func newManager(t *testing.T) *manager {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("images are unpacked by root so far")
	}
	s, err := store.Open(filepath.Join(t.TempDir(), "store"))
	if err != nil {
		t.Fatal(err)
	}
	m := &manager{t: t, woken: make(chan types.UID, 100), events: make(chan images.Event, 100)}
	// No limit of a pull may end it before its pods do.
	client := registry.New(registry.Config{Answer: time.Hour, Wait: func(context.Context, time.Duration) error { return nil }})
	m.Manager = images.New(client, s, func(uid types.UID) { m.woken <- uid }, func(_ types.UID, e images.Event) { m.events <- e })
	return m
}

func (m *manager) wantWaiting(r images.Request, reason string) {
	m.t.Helper()
	image, err := m.Get(m.t.Context(), r)
	var w *images.Waiting
	if !errors.As(err, &w) || w.Reason != reason {
		m.t.Errorf("Get() = %v, %v; want to wait for %s", image, err, reason)
		return
	}
	// The node's alarm goes by the wall clock. A time that is compared by the monotonic clock would be over for the one and not
	// for the other after the machine has slept, and the pod woken again and again.
	if w.RetryAt != w.RetryAt.Round(0) {
		m.t.Errorf("waits for %s until %v, which carries a reading of the monotonic clock", reason, w.RetryAt)
	}
}

func (m *manager) wantImage(r images.Request) *images.Image {
	m.t.Helper()
	image, err := m.Get(m.t.Context(), r)
	if err != nil {
		m.t.Fatal(err)
	}
	return image
}

func small(t *testing.T, config v1.Config) v1.Image {
	return build.Image(t, config, build.Layer(t, map[string]build.File{
		"etc/passwd": {Content: "root:x:0:0:root:/root:/bin/sh\nwork:x:1000:1001::/home/work:/bin/sh\n", Mode: 0o644},
		"etc/group":  {Content: "root:x:0:\nwork:x:1001:\nextra:x:50:work,other\n", Mode: 0o644},
	}))
}

func TestManyPodsWaitForOnePull(t *testing.T) {
	m := newManager(t)
	host := build.Serve(t, map[string]v1.Image{"a:1": small(t, v1.Config{})})
	for _, uid := range []types.UID{"1", "2", "3"} {
		m.wantWaiting(images.Request{Pod: uid, Image: host + "/a:1", Policy: corev1.PullIfNotPresent}, images.ReasonCreating)
	}
	for range 3 {
		await.Value(t, "a pod is woken", m.woken)
	}
	image := m.wantImage(images.Request{Pod: "1", Image: host + "/a:1", Policy: corev1.PullIfNotPresent})
	if want := host + "/a@" + image.Digest.String(); image.ImageID() != want {
		t.Errorf("ImageID() = %s, want %s", image.ImageID(), want)
	}
	m.wantImage(images.Request{Pod: "4", Image: host + "/a:1", Policy: corev1.PullNever})
	if n := len(m.events); n != 2 {
		t.Errorf("%d events, want the begin and the end of one pull", n)
	}
}

func TestAlwaysPullsForStartsThatComeLater(t *testing.T) {
	m := newManager(t)
	host := build.Serve(t, map[string]v1.Image{"a:1": small(t, v1.Config{})})
	request := images.Request{Pod: "1", Image: host + "/a:1", Policy: corev1.PullAlways, Since: time.Now()}
	m.wantWaiting(request, images.ReasonCreating)
	await.Value(t, "the pod is woken", m.woken)
	m.wantImage(request)
	request.Pod, request.Since = "2", time.Now()
	m.wantWaiting(request, images.ReasonCreating)
	await.Value(t, "the pod is woken", m.woken)
	m.wantImage(request)
}

// A pod need not wait again because a later pod has the same image pulled anew.
func TestAPullIsNotLostToLaterOnes(t *testing.T) {
	m := newManager(t)
	host := build.Serve(t, map[string]v1.Image{"a:1": small(t, v1.Config{})})
	first := images.Request{Pod: "1", Image: host + "/a:1", Policy: corev1.PullAlways, Since: time.Now()}
	m.wantWaiting(first, images.ReasonCreating)
	await.Value(t, "the pod is woken", m.woken)
	m.wantWaiting(images.Request{Pod: "2", Image: host + "/a:1", Policy: corev1.PullAlways, Since: time.Now()}, images.ReasonCreating)
	m.wantImage(first)
}

func TestReasonsWhyAnImageIsNotReady(t *testing.T) {
	m := newManager(t)
	host := build.Serve(t, nil)
	m.wantWaiting(images.Request{Pod: "1", Image: "UPPER case", Policy: corev1.PullAlways}, images.ReasonInvalid)
	m.wantWaiting(images.Request{Pod: "1", Image: host + "/none:1", Policy: corev1.PullNever}, images.ReasonNever)
	request := images.Request{Pod: "1", Image: host + "/none:1", Policy: corev1.PullIfNotPresent}
	m.wantWaiting(request, images.ReasonCreating)
	await.Value(t, "the pod is woken", m.woken)
	m.wantWaiting(request, images.ReasonFailed)
	m.wantWaiting(request, images.ReasonBackOff)
	request.Pod = "2"
	m.wantWaiting(request, images.ReasonBackOff)
}

func TestPullSecretsOfPodsAreIndependent(t *testing.T) {
	m := newManager(t)
	host := build.ServeBehind(t, map[string]v1.Image{"a:1": small(t, v1.Config{})}, build.Login("me", "sesame"))
	ring := func(password string) *credentials.Keyring {
		k := &credentials.Keyring{}
		k.Add(host, credentials.Password("a test", "me", password))
		return k
	}
	wrong := images.Request{Pod: "1", Image: host + "/a:1", Policy: corev1.PullAlways, Since: time.Now(), Secrets: ring("pumpkin")}
	right := images.Request{Pod: "2", Image: host + "/a:1", Policy: corev1.PullAlways, Since: time.Now(), Secrets: ring("sesame")}
	m.wantWaiting(wrong, images.ReasonCreating)
	await.Value(t, "the first pod is woken", m.woken)
	m.wantWaiting(wrong, images.ReasonFailed)
	m.wantWaiting(right, images.ReasonCreating)
	await.Value(t, "the second pod is woken", m.woken)
	m.wantImage(right)
	m.wantWaiting(wrong, images.ReasonBackOff)

	// As in a cluster, every pod may use a stored image, unless its own policy is Always.
	wrong.Policy = corev1.PullIfNotPresent
	m.wantImage(wrong)
}

func TestAnUnreachableRegistryHasItsOwnReason(t *testing.T) {
	m := newManager(t)
	request := images.Request{Pod: "1", Image: "127.0.0.1:1/a:1", Policy: corev1.PullIfNotPresent}
	m.wantWaiting(request, images.ReasonCreating)
	await.Value(t, "the pod is woken", m.woken)
	m.wantWaiting(request, images.ReasonUnavailable)
	m.wantWaiting(request, images.ReasonBackOff)
}

func TestWhatAContainerRunsOfItsImage(t *testing.T) {
	i := &images.Image{Config: v1.Config{Entrypoint: []string{"/entry"}, Cmd: []string{"default"}, Env: []string{"PATH=/x", "A=image"}}}
	for _, test := range []struct {
		command, args []string
		want          string
	}{
		{nil, nil, "/entry default"},
		{nil, []string{"own"}, "/entry own"},
		{[]string{"/own"}, nil, "/own"},
		{[]string{"/own"}, []string{"x"}, "/own x"},
	} {
		if got, err := i.Command(test.command, test.args); err != nil || strings.Join(got, " ") != test.want {
			t.Errorf("Command(%q, %q) = %q, %v, want %s", test.command, test.args, got, err, test.want)
		}
	}
	if _, err := (&images.Image{}).Command(nil, nil); err == nil {
		t.Error("a container without a command is started")
	}
	if got := strings.Join(i.Environ([]string{"A=pod", "B=$(A)"}), " "); got != "PATH=/x A=pod B=$(A)" {
		t.Errorf("Environ() = %s", got)
	}
	for text, want := range map[string]int32{"": 0, "SIGUSR1": 10, "usr1": 10, "9": 9} {
		i.Config.StopSignal = text
		if got, err := i.StopSignal(); err != nil || got != want {
			t.Errorf("StopSignal() of %q = %d, %v", text, got, err)
		}
	}
	i.Config.StopSignal = "SIGNOT"
	if _, err := i.StopSignal(); err == nil {
		t.Error("SIGNOT is a signal")
	}
}

func TestUsersOfAnImage(t *testing.T) {
	m := newManager(t)
	s := small(t, v1.Config{})
	host := build.Serve(t, map[string]v1.Image{"a:1": s})
	request := images.Request{Pod: "1", Image: host + "/a:1", Policy: corev1.PullIfNotPresent}
	m.wantWaiting(request, images.ReasonCreating)
	await.Value(t, "the pod is woken", m.woken)
	tree := m.wantImage(request).Tree
	id := func(n int64) *int64 { return &n }
	for name, test := range map[string]struct {
		user     string
		uid, gid *int64
		want     images.User
		fails    string
	}{
		"root":                     {"", nil, nil, images.User{Home: "/root"}, ""},
		"by name":                  {"work", nil, nil, images.User{UID: 1000, GID: 1001, Groups: []uint32{50}, Home: "/home/work", Named: true}, ""},
		"by number":                {"1000", nil, nil, images.User{UID: 1000, GID: 1001, Groups: []uint32{50}, Home: "/home/work"}, ""},
		"with a group":             {"work:extra", nil, nil, images.User{UID: 1000, GID: 50, Home: "/home/work", Named: true}, ""},
		"unknown number":           {"77:88", nil, nil, images.User{UID: 77, GID: 88, Home: "/"}, ""},
		"as the pod says":          {"work:extra", id(77), nil, images.User{UID: 77, Home: "/"}, ""},
		"as the pod says, a group": {"work", nil, id(5), images.User{UID: 1000, GID: 5, Groups: []uint32{50}, Home: "/home/work", Named: true}, ""},
		"no such user":             {"nobody", nil, nil, images.User{}, `no user "nobody"`},
		"no such group":            {"work:none", nil, nil, images.User{}, `no group "none"`},
	} {
		i := &images.Image{Tree: tree, Config: v1.Config{User: test.user}}
		got, err := i.User(test.uid, test.gid)
		switch {
		case test.fails != "":
			if err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil || got.UID != test.want.UID || got.GID != test.want.GID || got.Home != test.want.Home ||
			got.Named != test.want.Named || len(got.Groups) != len(test.want.Groups):
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, test.want)
		}
	}
}

// An account file is not trusted: its lines may be as long as what is read of it.
func TestLongLinesOfAccountsTakeLittleMemory(t *testing.T) {
	tree := t.TempDir()
	if err := os.Mkdir(filepath.Join(tree, "etc"), 0o755); err != nil {
		t.Fatal(err)
	}
	passwd := "work:x:7:8::/home" + strings.Repeat(":", 500_000) + "\n"
	group := "many:x:9:work" + strings.Repeat(",", 500_000) + "\n" + "more:x:10:" + strings.Repeat(",", 300_000) + "work\n"
	for name, text := range map[string]string{"etc/passwd": passwd, "etc/group": group} {
		if err := os.WriteFile(filepath.Join(tree, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	image := &images.Image{Tree: tree, Config: v1.Config{User: "work"}}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	user, err := image.User(nil, nil)
	runtime.ReadMemStats(&after)
	if err != nil || user.UID != 7 || user.Home != "/home" || !slices.Equal(user.Groups, []uint32{9, 10}) {
		t.Errorf("User() = %+v, %v", user, err)
	}
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 10<<20 {
		t.Errorf("it took %d bytes", taken)
	}
}

func TestTheAccountsOfAnImageAreReadOnceForEachUser(t *testing.T) {
	i := &images.Image{Tree: t.TempDir()}
	passwd := filepath.Join(i.Tree, "etc", "passwd")
	if err := os.MkdirAll(passwd, 0o755); err != nil {
		t.Fatal(err)
	}
	if user, err := i.User(nil, nil); err == nil {
		t.Errorf("a directory has the account %+v", user)
	}
	if err := os.Remove(passwd); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(passwd, []byte("root:x:0:0::/root:/bin/sh\nwork:x:1000:1001::/home/work:/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	want := func(uid *int64, home string) {
		t.Helper()
		if user, err := i.User(uid, nil); err != nil || user.Home != home {
			t.Errorf("User() = %+v, %v, want the home %s", user, err, home)
		}
	}
	want(nil, "/root")
	if err := os.Remove(passwd); err != nil {
		t.Fatal(err)
	}
	want(nil, "/root")
	for uid := range int64(1000) {
		want(&uid, "/")
	}
	want(nil, "/")
}
