package store

import (
	"encoding/json"
	"strings"
	"testing"
)

// The child that lists an archive may be under the control of the archive.
func TestNoFileOfAnArchiveHasANegativeSize(t *testing.T) {
	for name, f := range map[string]archiveFile{
		"a size":     {Offset: 512, Size: -1},
		"an offset":  {Offset: -512, Size: 1},
		"both valid": {Offset: 512, Size: 1},
	} {
		answer, err := json.Marshal(archiveList{Files: map[string]archiveFile{"manifest.json": f}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = readList(answer)
		if valid := name == "both valid"; valid != (err == nil) || !valid && !strings.Contains(err.Error(), "manifest.json") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
