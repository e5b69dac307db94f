package connlimit_test

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/stint-dev/stint/internal/connlimit"
	"github.com/stint-dev/stint/test/await"
)

// connect opens a connection and returns both ends.
func connect(t *testing.T, l net.Listener) (client, server net.Conn) {
	t.Helper()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func isOpen(t *testing.T, client net.Conn) bool {
	t.Helper()
	// On loopback a closed connection returns EOF at once. An open one has no data, and reading times out.
	if err := client.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	_, err := client.Read(make([]byte, 1))
	return !errors.Is(err, io.EOF)
}

func TestTheOldestUnauthenticatedConnectionIsClosed(t *testing.T) {
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := connlimit.Limit(plain, 3)
	t.Cleanup(func() { l.Close() })
	known, _ := connect(t, l)
	l.MarkAuthenticated(known.LocalAddr().String())
	left, end := connect(t, l)
	left.Close()
	end.Close()
	var clients []net.Conn
	for range 5 {
		client, _ := connect(t, l)
		clients = append(clients, client)
	}
	for i, client := range clients {
		if want := i >= 2; want {
			if !isOpen(t, client) {
				t.Errorf("connection %d was closed", i)
			}
			continue
		}
		await.Until(t, "the oldest is closed", func() bool { return !isOpen(t, client) })
	}
	if !isOpen(t, known) {
		t.Error("the known one was closed")
	}
}

func TestThereIsAlwaysRoom(t *testing.T) {
	if room := connlimit.MaxUnauthenticated(); room < 8 || room > 256 {
		t.Errorf("room for %d", room)
	}
}
