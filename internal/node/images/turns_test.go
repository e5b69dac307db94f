package images_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/image/registry/credentials"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/test/await"
	build "github.com/stint-dev/stint/test/images"
)

// silent is a registry that answers nothing until the client gives up.
type silent struct {
	*httptest.Server
	// asked receives the path of each request, givenUp that of each that the client has given up.
	asked, givenUp chan string
}

func newSilent(t *testing.T) *silent {
	s := &silent{asked: make(chan string, 1000), givenUp: make(chan string, 1000)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" {
			return
		}
		s.asked <- r.URL.Path
		<-r.Context().Done()
		s.givenUp <- r.URL.Path
	}))
	t.Cleanup(s.Close)
	return s
}

// image returns the name of one of the images of the registry.
func (s *silent) image(n int) string {
	return fmt.Sprintf("%s/a%d:1", strings.TrimPrefix(s.URL, "http://"), n)
}

func always(pod types.UID, image string) images.Request {
	return images.Request{Pod: pod, Image: image, Policy: corev1.PullAlways, Since: time.Now()}
}

func TestAPullEndsWithTheLastPodThatWaitsForIt(t *testing.T) {
	m, s := newManager(t), newSilent(t)
	m.wantWaiting(always("1", s.image(1)), images.ReasonCreating)
	m.wantWaiting(always("2", s.image(1)), images.ReasonCreating)
	m.wantWaiting(always("1", s.image(2)), images.ReasonCreating)
	for range 2 {
		await.Value(t, "a request", s.asked)
	}
	m.Leave("1")
	if path := await.Value(t, "the end of a pull", s.givenUp); !strings.Contains(path, "/a2/") {
		t.Errorf("%s was given up, for which another pod waits", path)
	}
	m.Leave("2")
	await.Value(t, "the end of the other pull", s.givenUp)
	m.Leave("2")

	m.wantWaiting(always("3", s.image(1)), images.ReasonCreating)
	await.Value(t, "a request of a new pull", s.asked)
	m.Leave("3")
	await.Until(t, "no pull runs", func() bool {
		_, running := m.Pulls(time.Now())
		return !running
	})
	if n := len(m.woken); n > 0 {
		t.Errorf("%d pods were woken, none of which waits", n)
	}
	for len(m.events) > 0 {
		if e := <-m.events; !e.Begins {
			t.Errorf("a pull for no pod is told to have ended: %+v", e)
		}
	}
}

func TestAPullGoesOnForThePodsThatStay(t *testing.T) {
	m := newManager(t)
	goOn := make(chan struct{})
	host := build.ServeBehind(t, map[string]v1.Image{"a:1": small(t, v1.Config{})}, build.Hold(0, goOn))
	m.wantWaiting(always("1", host+"/a:1"), images.ReasonCreating)
	stays := always("2", host+"/a:1")
	m.wantWaiting(stays, images.ReasonCreating)
	m.Leave("1")
	close(goOn)
	if uid := await.Value(t, "a pod is woken", m.woken); uid != "2" {
		t.Errorf("pod %s is woken", uid)
	}
	// With the policy Always it would pull again, as it has asked only after the pull began.
	if _, err := m.Get(t.Context(), images.Request{Pod: "2", Image: stays.Image, Policy: corev1.PullNever}); err != nil {
		t.Error(err)
	}
}

func TestAPullWithSecretsThatHaveChangedEnds(t *testing.T) {
	m, s := newManager(t), newSilent(t)
	request := always("1", s.image(1))
	m.wantWaiting(request, images.ReasonCreating)
	await.Value(t, "a request", s.asked)
	request.Secrets = &credentials.Keyring{}
	request.Secrets.Add("elsewhere", credentials.Password("a test", "me", "sesame"))
	m.wantWaiting(request, images.ReasonCreating)
	await.Value(t, "the end of the first pull", s.givenUp)
	await.Value(t, "the request of the second pull", s.asked)
}

func TestPullsAreBoundedInNumber(t *testing.T) {
	m := newManager(t)
	const waits = "waits for its turn: at most 16 images are pulled at a time, and 4 from one registry"
	var registries []*silent
	pulls := func(i, n int) bool {
		_, err := m.Get(t.Context(), always(podOf(i, n), registries[i].image(n)))
		if begun := strings.HasPrefix(err.Error(), "pulling image"); begun != strings.Contains(err.Error(), waits) {
			return begun
		}
		t.Fatalf("image %d of registry %d: %v", n, i, err)
		return false
	}
	for i := range 5 {
		registries = append(registries, newSilent(t))
		for n := range 6 {
			if turn := i < 4 && n < 4; pulls(i, n) != turn {
				t.Errorf("image %d of registry %d is pulled: %t, want %t", n, i, !turn, turn)
			}
		}
	}
	if t.Failed() {
		return // The others would not get their turns.
	}
	next := func(ended types.UID, i, n int) {
		t.Helper()
		m.Leave(ended)
		if uid := await.Value(t, "a pod is told that its pull has begun", m.woken); uid != podOf(i, n) || !pulls(i, n) {
			t.Errorf("after the pull for pod %s comes that for %s, want image %d of registry %d", ended, uid, n, i)
		}
	}
	next(podOf(0, 0), 0, 4)
	next(podOf(0, 1), 0, 5)
	m.Leave(podOf(1, 4)) // It has waited only.
	next(podOf(1, 0), 1, 5)
	next(podOf(1, 1), 4, 0) // The registries before that have four pulls each.
	for _, s := range registries {
		await.Value(t, "a request", s.asked)
	}
}

// podOf is the pod that waits for an image of a registry.
func podOf(registry, image int) types.UID { return types.UID(fmt.Sprintf("%d%d", registry, image)) }

func TestAPodThatWaitsForItsTurnGetsIt(t *testing.T) {
	m := newManager(t)
	goOn := make(chan struct{})
	all := map[string]v1.Image{}
	for n := range 9 {
		all[fmt.Sprintf("a%d:1", n)] = small(t, v1.Config{User: fmt.Sprint(n)})
	}
	host := build.ServeBehind(t, all, build.Hold(0, goOn))
	var requests []images.Request
	for n := range 9 {
		requests = append(requests, images.Request{Pod: types.UID(fmt.Sprint(n)), Image: fmt.Sprintf("%s/a%d:1", host, n), Policy: corev1.PullIfNotPresent})
		m.wantWaiting(requests[n], images.ReasonCreating)
	}
	close(goOn)
	for range 9 + 5 { // Five are woken when it is their turn, too.
		await.Value(t, "a pod is woken", m.woken)
	}
	for _, r := range requests {
		m.wantImage(r)
	}
}
