package prober_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/stint-dev/stint/internal/node/probe"
	"github.com/stint-dev/stint/internal/node/prober"
	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// podIP is an address of no machine, so that what is found is found at the loopback address.
const podIP = "192.0.2.1"

func noExec(context.Context, runtime.ID, runtime.Command, runtime.Streams) (int32, error) {
	return 0, errors.New("there is no exec")
}

// ask runs a liveness probe with such a handler. It waits as long as tests wait.
func ask(p *prober.Prober, h corev1.ProbeHandler, ports ...corev1.ContainerPort) prober.Outcome {
	return askAt(podIP, p, h, ports...)
}

func askAt(ip string, p *prober.Prober, h corev1.ProbeHandler, ports ...corev1.ContainerPort) prober.Outcome {
	c := &corev1.Container{
		Name: "main", Ports: ports, Env: []corev1.EnvVar{{Name: "WORD", Value: "hello"}},
		LivenessProbe: &corev1.Probe{ProbeHandler: h, TimeoutSeconds: int32(await.Limit / time.Second)},
	}
	return p.Probe(context.Background(), prober.Container{PodIP: ip, Spec: c}, probe.Liveness)
}

func portOf(t *testing.T, address string) intstr.IntOrString {
	t.Helper()
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return intstr.FromInt32(int32(n))
}

// serve starts a server on the loopback address and returns its port.
func serve(t *testing.T, start func(http.Handler) *httptest.Server, handler http.HandlerFunc) intstr.IntOrString {
	t.Helper()
	server := start(handler)
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return portOf(t, u.Host)
}

func TestHTTPStatuses(t *testing.T) {
	port := serve(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		switch status, _ := strconv.Atoi(strings.Trim(r.URL.Path, "/")); {
		case r.URL.Path == "/local":
			http.Redirect(w, r, "/200", http.StatusFound)
		case r.URL.Path == "/away":
			w.Header().Set("Location", "http://elsewhere.invalid/")
			w.WriteHeader(http.StatusFound)
			fmt.Fprint(w, "over there")
		case r.URL.Path == "/circle":
			http.Redirect(w, r, "/circle", http.StatusFound)
		default:
			w.WriteHeader(status)
		}
	})
	p := prober.New(noExec, prober.Dialer{Machine: podIP}, "1.2")
	for path, want := range map[string]prober.Outcome{
		"/200":   {Result: probe.Success},
		"/204":   {Result: probe.Success},
		"/400":   {Result: probe.Failure, Message: "HTTP probe failed with statuscode: 400"},
		"/503":   {Result: probe.Failure, Message: "HTTP probe failed with statuscode: 503"},
		"/local": {Result: probe.Success},
		"/away":  {Result: probe.Success, Warning: "the redirect with status 302 was not followed: over there"},
		"/circle": {Result: probe.Failure,
			Message: `Get "/circle": there are more than 10 redirects`},
	} {
		got := ask(p, corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path, Port: port}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", path, diff)
		}
	}
}

func TestHTTPRequest(t *testing.T) {
	var got *http.Request
	see := func(_ http.ResponseWriter, r *http.Request) { got = r }
	plain, secure := serve(t, httptest.NewServer, see), serve(t, httptest.NewTLSServer, see)
	p := prober.New(noExec, prober.Dialer{Machine: podIP}, "1.2")
	header := func(pairs ...string) (headers []corev1.HTTPHeader) {
		for i := 0; i < len(pairs); i += 2 {
			headers = append(headers, corev1.HTTPHeader{Name: pairs[i], Value: pairs[i+1]})
		}
		return headers
	}
	for what, tc := range map[string]struct {
		action corev1.HTTPGetAction
		want   string
	}{
		"defaults": {corev1.HTTPGetAction{Path: "/a?b=c", Port: plain},
			"/a?b=c from kube-probe/1.2 to 192.0.2.1:" + plain.String() + " for [*/*]"},
		"a port by its name": {corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("web")},
			"/ from kube-probe/1.2 to 192.0.2.1:" + plain.String() + " for [*/*]"},
		"headers": {corev1.HTTPGetAction{Path: "/", Port: plain, HTTPHeaders: header("user-agent", "me", "host", "you", "accept", "")},
			"/ from me to you for []"},
		"a header twice": {corev1.HTTPGetAction{Path: "/", Port: plain, HTTPHeaders: header("Accept", "a", "Accept", "b")},
			"/ from kube-probe/1.2 to 192.0.2.1:" + plain.String() + " for [a b]"},
		"HTTPS with a certificate of its own making": {corev1.HTTPGetAction{Path: "/", Port: secure, Scheme: corev1.URISchemeHTTPS},
			"/ from kube-probe/1.2 to 192.0.2.1:" + secure.String() + " for [*/*]"},
		"another host": {corev1.HTTPGetAction{Path: "/", Port: plain, Host: "localhost"},
			"/ from kube-probe/1.2 to localhost:" + plain.String() + " for [*/*]"},
	} {
		got = nil
		outcome := ask(p, corev1.ProbeHandler{HTTPGet: &tc.action}, corev1.ContainerPort{Name: "web", ContainerPort: plain.IntVal})
		if got == nil || outcome.Result != probe.Success {
			t.Errorf("%s: %+v", what, outcome)
			continue
		}
		if line := fmt.Sprintf("%s from %s to %s for %s", got.URL, got.UserAgent(), got.Host, got.Header["Accept"]); line != tc.want {
			t.Errorf("%s: %s, want %s", what, line, tc.want)
		}
	}
}

func TestHTTP2(t *testing.T) {
	start := func(h http.Handler) *httptest.Server {
		s := httptest.NewUnstartedServer(h)
		s.EnableHTTP2 = true
		s.StartTLS()
		return s
	}
	port := serve(t, start, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			w.WriteHeader(http.StatusHTTPVersionNotSupported)
		}
	})
	got := ask(prober.New(noExec, prober.Dialer{Machine: podIP}, "1.2"), corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: port, Scheme: corev1.URISchemeHTTPS}})
	if diff := cmp.Diff(prober.Outcome{Result: probe.Success}, got); diff != "" {
		t.Error(diff)
	}
}

func TestEndlessAnswersAreNotReadToTheEnd(t *testing.T) {
	port := serve(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/header" {
			w.Header().Set("Long", strings.Repeat("x", 1<<20))
			return
		}
		for err := error(nil); err == nil; {
			_, err = fmt.Fprintln(w, strings.Repeat("x", 1<<10))
		}
	})
	p := prober.New(noExec, prober.Dialer{Machine: podIP}, "1.2")
	if got := ask(p, corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/body", Port: port}}); got.Result != probe.Success {
		t.Errorf("a body without end: %+v", got)
	}
	if got := ask(p, corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/header", Port: port}}); got.Result != probe.Failure {
		t.Errorf("a large header: %+v", got)
	}
}

func TestUnknownPortName(t *testing.T) {
	p := prober.New(noExec, prober.Dialer{Machine: podIP}, "1.2")
	for _, h := range []corev1.ProbeHandler{
		{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromString("web")}},
		{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromString("web")}},
	} {
		if got := ask(p, h); got.Result != probe.Unknown || !strings.Contains(got.Message, `no port with the name "web"`) {
			t.Errorf("%+v", got)
		}
	}
}

func TestTCP(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	p := prober.New(noExec, prober.Dialer{}, "1.2")
	h := corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: portOf(t, listener.Addr().String())}}
	if got := askAt("127.0.0.1", p, h); got.Result != probe.Success {
		t.Errorf("listening: %+v", got)
	}
	listener.Close()
	if got := askAt("127.0.0.1", p, h); got.Result != probe.Failure || !strings.Contains(got.Message, "connection refused") {
		t.Errorf("closed: %+v", got)
	}
}

func TestGRPC(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, state := grpc.NewServer(), health.NewServer()
	grpc_health_v1.RegisterHealthServer(server, state)
	state.SetServingStatus("", grpc_health_v1.HealthCheckResponse_SERVING)
	state.SetServingStatus("ill", grpc_health_v1.HealthCheckResponse_NOT_SERVING)
	go server.Serve(listener)
	defer server.Stop()
	bare, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	other := grpc.NewServer()
	go other.Serve(bare)
	defer other.Stop()
	p := prober.New(noExec, prober.Dialer{Machine: podIP}, "1.2")
	on := func(l net.Listener, service string) corev1.ProbeHandler {
		return corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: portOf(t, l.Addr().String()).IntVal, Service: &service}}
	}
	for what, tc := range map[string]struct {
		handler corev1.ProbeHandler
		result  probe.Result
		message string
	}{
		"serving":     {on(listener, ""), probe.Success, ""},
		"not serving": {on(listener, "ill"), probe.Failure, "the gRPC server says NOT_SERVING"},
		"no service of that name": {on(listener, "none"), probe.Failure,
			"the gRPC health check failed: rpc error: code = NotFound desc = unknown service"},
		"no health protocol": {on(bare, ""), probe.Failure,
			"the gRPC server cannot be asked for its health: unknown service grpc.health.v1.Health"},
	} {
		if got := ask(p, tc.handler); got.Result != tc.result || got.Message != tc.message {
			t.Errorf("%s: %+v", what, got)
		}
	}
	server.Stop()
	if got := askAt("127.0.0.1", p, on(listener, "")); got.Result != probe.Failure || !strings.Contains(got.Message, "connection refused") {
		t.Errorf("stopped: %+v", got)
	}
}

func TestCommands(t *testing.T) {
	runs := 0
	exec := func(ctx context.Context, _ runtime.ID, command runtime.Command, streams runtime.Streams) (int32, error) {
		runs++
		switch command.Args[0] {
		case "say":
			fmt.Fprint(streams.Stdout, strings.Join(command.Args[1:], " "))
			return 3, nil
		case "shout":
			for range 3 {
				if n, err := streams.Stderr.Write(make([]byte, 9<<10)); n != 9<<10 || err != nil {
					t.Errorf("writing gave %d, %v", n, err)
				}
			}
			return 1, nil
		case "break":
			return 0, errors.New("broken")
		case "hang":
			<-ctx.Done()
			return 0, ctx.Err()
		}
		return 0, nil
	}
	for command, tc := range map[string]struct {
		want prober.Outcome
		runs int
	}{
		"true":              {prober.Outcome{Result: probe.Success}, 1},
		"say $(WORD) $(NO)": {prober.Outcome{Result: probe.Failure, Message: "hello $(NO)"}, 1},
		"shout":             {prober.Outcome{Result: probe.Failure, Message: string(make([]byte, 10<<10))}, 1},
		"break":             {prober.Outcome{Result: probe.Unknown, Message: "broken"}, 3},
		"hang": {prober.Outcome{Result: probe.Failure,
			Message: fmt.Sprintf(`command ["hang"] has not ended within %s`, await.Limit)}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			runs = 0
			got := ask(prober.New(exec, prober.Dialer{Machine: podIP}, "1.2"), corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: strings.Fields(command)}})
			if diff := cmp.Diff(tc.want, got); diff != "" || runs != tc.runs {
				t.Errorf("%s, in %d runs: %s", command, runs, diff)
			}
		})
	}
}

func TestHooks(t *testing.T) {
	var asked string
	port := serve(t, httptest.NewServer, func(w http.ResponseWriter, r *http.Request) {
		asked = r.UserAgent()
		w.WriteHeader(http.StatusTeapot)
	})
	exec := func(_ context.Context, _ runtime.ID, command runtime.Command, _ runtime.Streams) (int32, error) {
		return int32(len(command.Args)) - 1, nil
	}
	p := prober.New(exec, prober.Dialer{Machine: podIP}, "1.2")
	run := func(h corev1.LifecycleHandler) error {
		return p.Hook(t.Context(), prober.Container{PodIP: podIP, Spec: &corev1.Container{Name: "main"}}, &h)
	}
	for _, scheme := range []corev1.URIScheme{corev1.URISchemeHTTP, corev1.URISchemeHTTPS} {
		asked = ""
		err := run(corev1.LifecycleHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: port, Scheme: scheme}})
		if err != nil || asked != "kube-lifecycle/1.2" {
			t.Errorf("%s: asked by %q: %v", scheme, asked, err)
		}
	}
	if err := run(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"true"}}}); err != nil {
		t.Error(err)
	}
	if err := run(corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"false", "x"}}}); err == nil {
		t.Error("a command that failed is no failure")
	}
	if err := run(corev1.LifecycleHandler{TCPSocket: &corev1.TCPSocketAction{}}); err == nil {
		t.Error("a TCP hook is no failure")
	}
}

func TestSleepHook(t *testing.T) {
	p := prober.New(noExec, prober.Dialer{Machine: podIP}, "1.2")
	sleep := &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: 7}}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		if err := p.Hook(t.Context(), prober.Container{}, sleep); err != nil || time.Since(begin) != 7*time.Second {
			t.Errorf("slept for %s: %v", time.Since(begin), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if err := p.Hook(ctx, prober.Container{}, sleep); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("cut short: %v", err)
		}
	})
}

func TestAPodWithANetworkIsAskedThere(t *testing.T) {
	var host string
	inPod := serve(t, httptest.NewServer, func(_ http.ResponseWriter, r *http.Request) { host = r.Host })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	grpc_health_v1.RegisterHealthServer(server, health.NewServer())
	go server.Serve(listener)
	defer server.Stop()
	var reached []netip.AddrPort
	toLoopback := func(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
		reached = append(reached, to)
		return new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", to.Port()))
	}
	p := prober.New(noExec, prober.Dialer{Machine: "127.0.0.1", Networks: netip.MustParsePrefix("192.0.2.0/24"), Reach: toLoopback}, "1.2")
	get := &corev1.HTTPGetAction{Path: "/", Port: inPod}
	inGRPC := portOf(t, listener.Addr().String())
	for what, tc := range map[string]struct {
		ask  func() error
		port intstr.IntOrString
	}{
		"HTTP": {outcomeOf(p, corev1.ProbeHandler{HTTPGet: get}), inPod},
		"TCP":  {outcomeOf(p, corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: inPod}}), inPod},
		"gRPC": {outcomeOf(p, corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: inGRPC.IntVal}}), inGRPC},
		"a hook": {func() error {
			return p.Hook(t.Context(), prober.Container{PodIP: podIP, Spec: &corev1.Container{}}, &corev1.LifecycleHandler{HTTPGet: get})
		}, inPod},
	} {
		reached, host = nil, ""
		if err := tc.ask(); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		at := fmt.Sprintf("%s:%s", podIP, tc.port.String())
		if len(reached) != 1 || reached[0].String() != at {
			t.Errorf("%s: reached %v, want %s", what, reached, at)
		}
		if host != "" && host != at {
			t.Errorf("%s: the Host header is %s", what, host)
		}
	}
	reached = nil
	get = &corev1.HTTPGetAction{Path: "/", Port: inPod, Host: "127.0.0.1"}
	if err := outcomeOf(p, corev1.ProbeHandler{HTTPGet: get})(); err != nil || reached != nil {
		t.Errorf("a host that the probe names is not asked on the machine: %v, %v", err, reached)
	}
}

// outcomeOf returns an error if a probe does not succeed.
func outcomeOf(p *prober.Prober, h corev1.ProbeHandler) func() error {
	return func() error {
		if got := ask(p, h); got.Result != probe.Success {
			return fmt.Errorf("%+v", got)
		}
		return nil
	}
}
