package command

import (
	"bytes"
	"fmt"
	"testing"
)

func TestTheLogOfAServerLeavesOutMessagesThatNeedNoAction(t *testing.T) {
	for line, shown := range map[string]bool{
		"W1121 23:52:44.567566   30787 cacher.go:185] Terminating all watchers from cacher nodes\n":                                               false,
		"E1121 23:52:44.567566   30787 authentication.go:70] Unable to authenticate the request\n":                                                false,
		"W1121 23:52:44.567566   30787 logging.go:55] [core] [Channel #1 SubChannel #2] grpc: addrConn.createTransport failed to connect to {}\n": false,
		"E1121 23:52:44.567566   30787 collector.go:121] Garbage collection is retried\n":                                                         true,
	} {
		var log bytes.Buffer
		if _, err := fmt.Fprint(logFilter{&log}, line); err != nil {
			t.Fatal(err)
		}
		if got := log.String() == line; got != shown {
			t.Errorf("shown %t, want %t: %s", got, shown, line)
		}
	}
}
