package node_test

import (
	"crypto/rand"
	"maps"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/client"
	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
	pictures "github.com/stint-dev/stint/test/images"
)

func TestTheNodeReportsPullProgress(t *testing.T) {
	s := imageStore(t)
	noise := make([]byte, 1<<20)
	_, _ = rand.Read(noise)
	image := pictures.Image(t, v1.Config{}, pictures.Layer(t, map[string]pictures.File{"noise": {Content: string(noise), Mode: 0o644}}))
	goOn := make(chan struct{})
	host := pictures.ServeBehind(t, map[string]v1.Image{"a:1": image}, pictures.Hold(1<<20, goOn))
	rt := newScripted()
	rt.info.CanRunImages = true
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Images = s })
	pulls := func() []progress.Pull {
		object, err := h.client.Nodes().Get(t.Context(), "", "here")
		if apierrors.IsNotFound(err) {
			return nil // The node registers itself while the test goes on.
		}
		if err != nil {
			t.Fatal(err)
		}
		return progress.Of(object)
	}

	var pods []*corev1.Pod
	for _, name := range []string{"a", "b"} {
		pods = append(pods, h.create(build(name, []string{"exit", "0"}, func(p *corev1.Pod) {
			p.Spec.RuntimeClassName = ptr.To(runtime.ClassOCI)
			p.Spec.Containers[0].Image = host + "/a:1"
		})))
	}
	h.eventually("the node reports the pull", func() bool {
		all := pulls()
		return len(all) == 1 && all[0].Image == host+"/a:1" && all[0].Done == all[0].Total/2 && all[0].Total > 1<<20
	}, func() any { return pulls() })
	close(goOn)
	for _, pod := range pods {
		h.until(pod, "the pod runs", inPhase(corev1.PodSucceeded))
	}
	h.eventually("the node reports no pull", func() bool { return pulls() == nil }, func() any { return pulls() })
}

// trickling is a registry whose layers arrive byte by byte, so that no limit of a pull applies. It tells gone when the client hangs up.
func trickling(t *testing.T, asked, gone chan<- bool) (host string) {
	noise := make([]byte, 1<<20)
	_, _ = rand.Read(noise)
	image := pictures.Image(t, v1.Config{}, pictures.Layer(t, map[string]pictures.File{"noise": {Content: string(noise), Mode: 0o644}}))
	return pictures.ServeBehind(t, map[string]v1.Image{"a:1": image}, func(inside http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			inside.ServeHTTP(answer, r)
			maps.Copy(w.Header(), answer.Header())
			w.WriteHeader(answer.Code)
			if answer.Body.Len() < len(noise) {
				_, _ = w.Write(answer.Body.Bytes())
				return
			}
			asked <- true
			for _, b := range answer.Body.Bytes() {
				_, _ = w.Write([]byte{b})
				if http.NewResponseController(w).Flush() != nil || r.Context().Err() != nil {
					gone <- true
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	})
}

func TestThePullForAPodThatHasEndedEnds(t *testing.T) {
	rt := newScripted()
	rt.info.CanRunImages = true
	h := newTestNode(t, rt)
	h.startNode(func(c *node.Config) { c.Images = imageStore(t) })
	for what, end := range map[string]func(*corev1.Pod) error{
		"deleted":  func(pod *corev1.Pod) error { return h.client.Pods().Delete(t.Context(), pod, client.DeleteOptions{}) },
		"deadline": func(*corev1.Pod) error { return nil },
	} {
		asked, gone := make(chan bool, 1), make(chan bool, 1)
		host := trickling(t, asked, gone)
		pod := h.create(build(what, []string{"exit", "0"}, func(p *corev1.Pod) {
			p.Spec.RuntimeClassName = ptr.To(runtime.ClassOCI)
			p.Spec.Containers[0].Image = host + "/a:1"
			if what == "deadline" {
				p.Spec.ActiveDeadlineSeconds = ptr.To(int64(1))
			}
		}))
		await.Value(t, "the layer is asked for", asked)
		if err := end(pod); err != nil {
			t.Fatal(err)
		}
		await.Value(t, "the end of the pull for a pod that is over: "+what, gone)
	}
}
