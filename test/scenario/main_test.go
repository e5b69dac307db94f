package scenario_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain ends what the tests share: the cluster, and the table of what came of every scenario.
func TestMain(m *testing.M) {
	code := m.Run()
	stopShared()
	if err := results.print(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}
