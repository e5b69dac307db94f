package apiserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream/wsstream"
	"k8s.io/utils/exec"
)

// isV5 reports whether the client asks for version 5 of the protocol, in which it can close the standard input of a process.
// The library that serves the other versions does not know it.
func isV5(req *http.Request) bool { return wsstream.IsWebSocketRequestWithStreamCloseProtocol(req) }

// serveV5 connects a client by a WebSocket, whose messages begin with the number of a stream.
func (h terminalHandler) serveV5(w http.ResponseWriter, req *http.Request) {
	channels := slices.Repeat([]wsstream.ChannelType{wsstream.IgnoreChannel}, remotecommand.StreamResize+1)
	open := func(stream int, kind wsstream.ChannelType, wanted bool) {
		if wanted {
			channels[stream] = kind
		}
	}
	open(remotecommand.StreamStdIn, wsstream.ReadChannel, h.options.Stdin)
	open(remotecommand.StreamStdOut, wsstream.WriteChannel, h.options.Stdout)
	open(remotecommand.StreamStdErr, wsstream.WriteChannel, h.options.Stderr)
	open(remotecommand.StreamErr, wsstream.WriteChannel, true)
	open(remotecommand.StreamResize, wsstream.ReadChannel, true)
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{
		remotecommand.StreamProtocolV5Name: {Binary: true, Channels: channels},
	})
	conn.SetIdleTimeout(idleTimeout)
	_, streams, err := conn.Open(w, req)
	if err != nil {
		klog.V(2).InfoS("A client has not opened a WebSocket", "err", err)
		return
	}
	defer conn.Close()
	resize := make(chan remotecommand.TerminalSize)
	go readSizes(req.Context(), streams[remotecommand.StreamResize], resize)
	var stdin io.Reader
	var stdout, stderr io.WriteCloser
	if h.options.Stdin {
		stdin = streams[remotecommand.StreamStdIn]
	}
	if h.options.Stdout {
		stdout = streams[remotecommand.StreamStdOut]
	}
	if h.options.Stderr {
		stderr = streams[remotecommand.StreamStdErr]
	}
	err = h.ExecInContainer(req.Context(), "", "", "", nil, stdin, stdout, stderr, h.options.TTY, resize, 0)
	if text, err := json.Marshal(exitStatus(err)); err == nil {
		_, _ = streams[remotecommand.StreamErr].Write(text)
	}
}

func readSizes(ctx context.Context, from io.Reader, to chan<- remotecommand.TerminalSize) {
	defer close(to)
	decoder := json.NewDecoder(from)
	for {
		var size remotecommand.TerminalSize
		if decoder.Decode(&size) != nil {
			return
		}
		select {
		case to <- size:
		case <-ctx.Done():
			return
		}
	}
}

// exitStatus tells a client how a process has ended.
func exitStatus(err error) metav1.Status {
	var exit exec.ExitError
	switch {
	case err == nil:
		return metav1.Status{Status: metav1.StatusSuccess}
	case errors.As(err, &exit):
		return metav1.Status{
			Status: metav1.StatusFailure, Reason: remotecommand.NonZeroExitCodeReason,
			Message: fmt.Sprintf("command terminated with non-zero exit code: %v", exit),
			Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{
				{Type: remotecommand.ExitCodeCauseType, Message: strconv.Itoa(exit.ExitStatus())},
			}},
		}
	}
	return metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Reason: metav1.StatusReasonInternalError,
		Message: "Internal error occurred: " + err.Error(),
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: err.Error()}}},
	}
}
