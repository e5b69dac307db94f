package cli

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"testing"

	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// A registry that has got a login can repeat it where no request waits for an answer.
func TestNoLogQuotesWhatAServerSendsUnasked(t *testing.T) {
	var stderr bytes.Buffer
	before := log.Writer()
	t.Cleanup(func() { log.SetOutput(before) })
	if code := Main([]string{"version"}, genericiooptions.IOStreams{In: strings.NewReader(""), Out: io.Discard, ErrOut: &stderr}); code != 0 {
		t.Fatalf("exit status %d: %s", code, &stderr)
	}
	talkUnasked(t)
	log.Print("another message")
	if text := stderr.String(); strings.Contains(text, "open-sesame") || !strings.Contains(text, "another message") {
		t.Errorf("the log is %q", text)
	}
}

// talkUnasked sends one request to a server that adds something to its answer, and waits until the client has hung up.
func talkUnasked(t *testing.T) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	hungUp := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			hungUp <- err
			return
		}
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nopen-sesame")
		_, err = io.Copy(io.Discard, conn)
		hungUp <- err
	}()
	client := http.Client{Transport: &http.Transport{}}
	resp, err := client.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if err := <-hungUp; err != nil && !strings.Contains(err.Error(), "reset") {
		t.Fatal(err)
	}
}
