package cluster

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

func TestWritesArePassedOnOnlyWhileTheLeaseIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lock := &resourcelock.LeaseLock{LockConfig: resourcelock.ResourceLockConfig{Identity: "me"}}
		holder := &leaseHolder{Interface: lock, duration: 15 * time.Second, lost: make(chan struct{})}
		passed := 0
		g := leaseTransport{holder, roundTripper(func(*http.Request) (*http.Response, error) { passed++; return nil, nil })}
		check := func(when, method string, want bool) {
			t.Helper()
			before := passed
			_, err := g.RoundTrip(httptest.NewRequest(method, "/", strings.NewReader("x")))
			if got := passed > before; got != want || got != (err == nil) {
				t.Errorf("%s %s: passed on %v with error %v, want %v", when, method, got, err, want)
			}
		}
		check("before the lease is won", http.MethodPost, false)
		asked := time.Now()
		time.Sleep(time.Second) // a slow answer
		holder.renewed(asked, nil)
		check("once it is won", http.MethodPost, true)
		time.Sleep(13 * time.Second)
		holder.renewed(time.Now(), errors.New("no answer"))
		check("before others may take it", http.MethodPut, true)
		time.Sleep(time.Second)
		check("when others may take it", http.MethodPatch, false)
		check("when others may take it", http.MethodDelete, false)
		check("when others may take it", http.MethodGet, true)
		holder.renewed(time.Now(), nil)
		check("when it is renewed late", http.MethodPatch, true)
		holder.seen("me")
		holder.seen("")
		check("when nobody else has it", http.MethodPatch, true)
		holder.seen("other")
		check("when another has it", http.MethodPatch, false)
		<-holder.lost
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
