package apiserver

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	clientportforward "k8s.io/client-go/tools/portforward"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"
)

// portForwardREST serves pods/portforward.
type portForwardREST struct{ podConnecter }

// NewConnectOptions implements rest.Connecter.
func (portForwardREST) NewConnectOptions() (runtime.Object, bool, string) {
	return &corev1.PodPortForwardOptions{}, false, ""
}

// Connect implements rest.Connecter.
func (r portForwardREST) Connect(ctx context.Context, name string, obj runtime.Object, _ rest.Responder) (http.Handler, error) {
	node, pod, err := r.pod(ctx, name)
	if err != nil {
		return nil, err
	}
	if pod.Status.Phase != corev1.PodRunning {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("pod %q does not run: its phase is %s", pod.Name, pod.Status.Phase))
	}
	return portForwardHandler{node: node, pod: pod, ports: obj.(*corev1.PodPortForwardOptions).Ports}, nil
}

// portForwardHandler connects a client with ports of a pod.
type portForwardHandler struct {
	node PodAccess
	pod  *corev1.Pod
	// ports are those of a client that speaks WebSocket alone. Others name them with each connection.
	ports []int32
}

// tunnelProtocol is that of clients that speak SPDY within a WebSocket.
const tunnelProtocol = "SPDY/3.1+" + portforward.ProtocolV1Name

// ServeHTTP speaks the protocol that the client asks for.
func (h portForwardHandler) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w, req, end := watchClient(w, req)
	defer end()
	if wsstream.IsWebSocketRequestWithTunnelingProtocol(req) {
		upgrader := websocket.Upgrader{Subprotocols: []string{tunnelProtocol}}
		conn, err := upgrader.Upgrade(w, req, nil)
		if err != nil {
			klog.V(2).InfoS("A client has not opened a WebSocket", "err", err)
			return
		}
		w, req = withinTunnel(conn, req)
	}
	portforward.ServePortForward(w, req, forwarder{ctx: req.Context(), portForwardHandler: h}, "", "", &portforward.V4Options{Ports: h.ports},
		idleTimeout, remotecommand.DefaultStreamCreationTimeout, []string{portforward.ProtocolV1Name})
}

// withinTunnel returns the request as a client without WebSockets would have sent it.
func withinTunnel(conn *websocket.Conn, req *http.Request) (http.ResponseWriter, *http.Request) {
	inner := req.Clone(req.Context())
	inner.Header.Set(httpstream.HeaderConnection, httpstream.HeaderUpgrade)
	inner.Header.Set(httpstream.HeaderUpgrade, spdy.HeaderSpdy31)
	inner.Header.Set(httpstream.HeaderProtocolVersion, portforward.ProtocolV1Name)
	return &tunnelWriter{conn: clientportforward.NewTunnelingConnection("client", conn), header: http.Header{}}, inner
}

// tunnelWriter lets a handler take over a connection to which no response has to be written.
type tunnelWriter struct {
	conn   net.Conn
	header http.Header
}

func (w *tunnelWriter) Header() http.Header         { return w.header }
func (w *tunnelWriter) Write(p []byte) (int, error) { return len(p), nil }
func (w *tunnelWriter) WriteHeader(int)             {}

// Hijack implements http.Hijacker.
func (w *tunnelWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return w.conn, bufio.NewReadWriter(bufio.NewReader(w.conn), bufio.NewWriter(w.conn)), nil
}

// forwarder copies the bytes of one connection after the other until ctx ends.
type forwarder struct {
	portForwardHandler
	ctx context.Context
}

// PortForward implements portforward.PortForwarder. It returns when the pod has closed the connection; then the library closes
// the stream.
func (f forwarder) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	conn, err := f.node.Dial(f.ctx, f.pod, port)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(f.ctx, func() { conn.Close() })()
	go func() {
		_, _ = io.Copy(conn, stream)
		// The client may still wait for the answer.
		if half, ok := conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}()
	_, err = io.Copy(stream, conn)
	if isClientGone(f.ctx) {
		return nil // The library would log an error.
	}
	return err
}
