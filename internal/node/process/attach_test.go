package process_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/await"
)

// attachment is a client that is attached to a container.
type attachment struct {
	stdout, stderr watchedBuffer
	stdin          *io.PipeWriter
	sizes          chan runtime.Size
	done           chan error
	detach         context.CancelFunc
}

// attach returns when the client gets what the container prints.
func (m *machine) attach(id runtime.ID) *attachment {
	m.t.Helper()
	a := &attachment{}
	m.connect(a, id, &a.stdout)
	return a
}

func (m *machine) connect(a *attachment, id runtime.ID, stdout io.Writer) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(await.Context(m.t))
	a.sizes, a.done, a.detach = make(chan runtime.Size), make(chan error, 1), cancel
	read, write := io.Pipe()
	a.stdin = write
	go func() {
		err := m.Attach(ctx, id, runtime.Streams{Stdin: read, Stdout: stdout, Stderr: &a.stderr, Sizes: a.sizes})
		read.Close()
		a.done <- err
	}()
	// The input is read when the client is attached. This write waits for that.
	a.write(m.t, "")
}

func (a *attachment) write(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(a.stdin, text); err != nil {
		t.Fatal(err)
	}
}

func (a *attachment) end(t *testing.T) error {
	return await.Value(t, "the end of the attachment", a.done)
}

func TestAClientIsAttachedToAContainer(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		c.Command = []string{"sh", "-c", "while read x; do echo out $x; echo err $x >&2; done; echo over"}
		c.Stdin = true
		m.start(c)
		first, second := m.attach(c.ID), m.attach(c.ID)
		first.write(t, "one\n")
		await.Until(t, "both clients see it", func() bool {
			return first.stdout.String() == "out one\n" && second.stdout.String() == "out one\n" && first.stderr.String() == "err one\n"
		})
		// The input stays open for the next client.
		first.stdin.Close()
		second.detach()
		if err := second.end(t); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that detaches: %v", err)
		}
		third := m.attach(c.ID)
		third.write(t, "two\n")
		await.Until(t, "the first client sees more", func() bool { return first.stdout.String() == "out one\nout two\n" })
		if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
			t.Fatal(err)
		}
		m.wait(c.ID)
		if err := first.end(t); err != nil {
			t.Errorf("a client whose container has ended: %v", err)
		}
		if got := m.output(c); got != "out one\nerr one\nout two\nerr two\n" && !strings.Contains(got, "out two\n") {
			t.Errorf("the log has %q", got)
		}
	})
}

func TestTheFirstClientClosesAnInputThatIsOpenOnce(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		c.Command = []string{"sh", "-c", "cat; echo over"}
		c.Stdin, c.StdinOnce = true, true
		m.start(c)
		a := m.attach(c.ID)
		a.write(t, "one\n")
		a.stdin.Close()
		if s := m.wait(c.ID); s.ExitCode != 0 {
			t.Errorf("ended with %+v", s)
		}
		if err := a.end(t); err != nil || a.stdout.String() != "one\nover\n" || m.output(c) != "one\nover\n" {
			t.Errorf("%v: the client has %q, the log %q", err, a.stdout.String(), m.output(c))
		}
	})
}

func TestAContainerHasATerminal(t *testing.T) {
	onContainers(t, func(t *testing.T, m *machine, c runtime.Container) {
		c.Command = []string{"sh", "-c", `test -t 0 && test -t 1 && test -t 2 || echo no terminal; stty -echo; echo ready $TERM; ` +
			`until test "$(stty size 2>/dev/null)" = "33 91"; do sleep 0.01; done; echo sized; read x; echo got $x; tty > /dev/null && echo named`}
		c.Stdin, c.TTY = true, true
		m.start(c)
		await.Until(t, "the container runs", func() bool { return strings.Contains(m.outputIfAny(c), "ready xterm") })
		a := m.attach(c.ID)
		a.sizes <- runtime.Size{Columns: 91, Rows: 33}
		await.Until(t, "the terminal has its size", func() bool { return strings.Contains(a.stdout.String(), "sized") })
		a.write(t, "it\n")
		if s := m.wait(c.ID); s.ExitCode != 0 {
			t.Errorf("ended with %+v", s)
		}
		if err := a.end(t); err != nil || a.stdout.String() != "sized\r\ngot it\r\nnamed\r\n" {
			t.Errorf("%v: the client has %q", err, a.stdout.String())
		}
		if got := m.output(c); got != "ready xterm\r\nsized\r\ngot it\r\nnamed\r\n" {
			t.Errorf("the log has %q", got)
		}
	})
}

// A client that does not read is disconnected. The container goes on, and its log is complete.
func TestAClientThatDoesNotReadHoldsUpNothing(t *testing.T) {
	m := start(t)
	m.needExec()
	c := m.container("sh", "-c", "read x; i=0; while test $i -lt 20; do head -c 100000 /dev/zero | tr '\\0' x; echo; i=$((i+1)); done")
	c.Stdin = true
	m.start(c)
	stuck, released := io.Pipe()
	defer released.Close()
	slow := &attachment{}
	m.connect(slow, c.ID, released)
	a := m.attach(c.ID)
	a.write(t, "go\n")
	if s := m.wait(c.ID); s.ExitCode != 0 {
		t.Errorf("ended with %+v", s)
	}
	if err := a.end(t); err != nil || len(a.stdout.String()) != 20*100001 || len(strings.ReplaceAll(m.output(c), "\n", "")) != 20*100000 {
		t.Errorf("%v: %d bytes, and %d in the log", err, len(a.stdout.String()), len(m.output(c)))
	}
	stuck.Close()
	if err := slow.end(t); err == nil {
		t.Error("a client that has not read all is not told")
	}
}

func TestAContainerWithATerminalIsNotHeldUpByHangups(t *testing.T) {
	m := start(t)
	m.needExec()
	c := m.container("sh", "-c", "trap 'exit 9' HUP; echo ready; while :; do sleep 0.01; done")
	c.Stdin, c.TTY = true, true
	m.start(c)
	await.Until(t, "the container runs", func() bool { return strings.Contains(m.outputIfAny(c), "ready") })
	a := m.attach(c.ID)
	a.sizes <- runtime.Size{Columns: 80, Rows: 25}
	a.detach()
	if err := a.end(t); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if code, _, problem := m.exec(c.ID, "", "true"); code != 0 {
		t.Errorf("the container has ended with its client: %s", problem)
	}
	if err := m.Stop(await.Context(t), c.ID, 0); err != nil {
		t.Fatal(err)
	}
	if s := m.wait(c.ID); s.Signal != int32(unix.SIGKILL) {
		t.Errorf("ended with %+v", s)
	}
}
