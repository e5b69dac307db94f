package rootfs

import (
	"os"
	"testing"
)

func TestAnUnchangedOverlayServesItsOwnerAgain(t *testing.T) {
	for name, test := range map[string]struct {
		owner string
		clean bool
		next  string
		kept  bool
	}{
		"the same owner":          {"a/1", true, "a/1", true},
		"another owner":           {"a/1", true, "b/1", false},
		"no owner":                {"", true, "", false},
		"processes that are left": {"a/1", false, "a/1", false},
	} {
		t.Run(name, func(t *testing.T) {
			upper, err := os.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer upper.Close()
			o := &overlay{tree: "tree", owner: test.owner, upper: upper}
			if o.fresh, err = stateOf(upper); err != nil {
				t.Fatal(err)
			}
			all := &overlays{dropped: make(chan *overlay, 1)}
			all.giveBack(o, test.clean)
			if all.expiry != nil {
				all.expiry.Stop()
			}
			if got := all.takeIdle("tree", test.next); (got == o) != test.kept {
				t.Errorf("the next container gets %v", got)
			}
		})
	}
}
