package command

import (
	"bytes"
	"flag"
	"io"
	"log"
	"os"
	"strconv"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/stint-dev/stint/internal/visible"
)

// LogStandard shows on a stream what libraries log with package log.
func LogStandard(to io.Writer) { log.SetOutput(logFilter{to}) }

// QuietLibraries discards what libraries log: commands return their errors.
func QuietLibraries() {
	klog.SetLogger(logr.Discard())
}

// LogLibraries shows warnings and errors of libraries on stderr, and from verbosity 1 on everything that they log.
func LogLibraries(verbosity int) {
	if verbosity > 0 {
		LogService(verbosity)
		return
	}
	setLog(map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"})
	klog.SetOutput(io.Discard)
	klog.SetOutputBySeverity("WARNING", logFilter{stderr()}) // and what is worse
}

// filteredMessages are what the API server's library logs about requests whose client gets the same error or has disconnected,
// about a server that stops while its own controllers still watch, and about gRPC probes that fail, of which events tell. The last one is of net/http
// and quotes what a server has sent on a connection without a request: a registry can make that the login.
var filteredMessages = [][]byte{
	[]byte("apiserver received an error that is not an metav1.Status"),
	[]byte("apiserver was unable to write"),
	[]byte("Timeout or abort while handling"),
	[]byte("Post-timeout activity"),
	[]byte("Unable to authenticate the request"),
	[]byte("Couldn't parse request"),
	[]byte("Terminating all watchers from cacher"),
	[]byte("grpc: addrConn.createTransport failed to connect"),
	[]byte("Unsolicited response received on idle HTTP channel"),
}

// logFilter drops filteredMessages, which need no action, from a log.
type logFilter struct{ io.Writer }

func (w logFilter) Write(line []byte) (int, error) {
	for _, known := range filteredMessages {
		if bytes.Contains(line, known) {
			return len(line), nil
		}
	}
	return w.Writer.Write(line)
}

// LogService logs to stderr like a component of a cluster.
func LogService(verbosity int) {
	setLog(map[string]string{"v": strconv.Itoa(verbosity), "logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL",
		"one_output": "true"})
	klog.SetOutput(stderr())
}

// stderr is where libraries log, escaped like what commands print.
func stderr() io.Writer { return visible.NewWriter(os.Stderr) } //nolint:forbidigo // Libraries know no streams of commands.

func setLog(settings map[string]string) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	for name, value := range settings {
		if err := flags.Set(name, value); err != nil {
			panic("klog has no flag " + name) // a change of the library that no input can cause
		}
	}
}
