package diskpressure_test

import (
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/filesystem"
	"github.com/stint-dev/stint/internal/node/diskpressure"
)

func TestCheck(t *testing.T) {
	space := func(total, free int64) filesystem.Space { return filesystem.Space{Bytes: total, BytesAvailable: free} }
	inodes := func(total, free int64) filesystem.Space {
		return filesystem.Space{Bytes: gib, BytesAvailable: gib, Inodes: total, InodesFree: free}
	}
	for sentence, tc := range map[string]struct {
		was  bool
		of   []filesystem.Space
		want string
	}{
		"an empty disk":                                  {of: []filesystem.Space{space(gib, gib)}},
		"a small disk with less than a tenth":            {of: []filesystem.Space{space(1000*mib, 99*mib)}, want: "less than 100 MiB are free on the file system of /0: remove files until 120 MiB are free"},
		"a small disk with a tenth":                      {of: []filesystem.Space{space(1000*mib, 100*mib)}},
		"a tenth does not end it":                        {was: true, of: []filesystem.Space{space(1000*mib, 100*mib)}, want: "less than"},
		"a little more does":                             {was: true, of: []filesystem.Space{space(1000*mib, 120*mib)}},
		"a large disk that is full but for five GiB":     {of: []filesystem.Space{space(2000*gib, 5*gib)}},
		"a large disk that is full but for half a GiB":   {of: []filesystem.Space{space(2000*gib, gib/2)}, want: "less than 1.0 GiB are free on the file system of /0: remove files until 1.2 GiB are free"},
		"the second disk is full":                        {of: []filesystem.Space{space(gib, gib), space(gib, 0)}, want: "of /1"},
		"few inodes":                                     {of: []filesystem.Space{inodes(1000, 49)}, want: "less than 50 inodes are free on the file system of /0: remove files until 60 are"},
		"enough of very many inodes":                     {of: []filesystem.Space{inodes(100_000_000, 60_000)}},
		"a file system that does not count its inodes":   {of: []filesystem.Space{inodes(0, 0)}},
		"pressure of inodes ends with a few more inodes": {was: true, of: []filesystem.Space{inodes(1000, 60)}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var systems []diskpressure.FileSystem
			for i, s := range tc.of {
				systems = append(systems, diskpressure.FileSystem{Dir: "/" + string(rune('0'+i)), Space: s})
			}
			got := diskpressure.Check(tc.was, systems).Message
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
