package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestANameThatNoNodeCanHaveIsRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "node-name")
	if err := os.WriteFile(file, []byte("Not A Name\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for field, given := range map[string]string{file: "", "its name": "Not A Name"} {
		if _, err := nameFor(given, dir); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("error %v does not name %q", err, field)
		}
	}
}
