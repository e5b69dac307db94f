package sandbox

import (
	"os"
	"testing"
)

// Other programs remove files from a directory such as /run at any time. No container may fail for it.
func TestAnEntryThatIsGoneWhenItIsBoundBackIsLeftOut(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	w, err := walkFrom(from)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	shadow, err := walkFrom(to)
	if err != nil {
		t.Fatal(err)
	}
	defer shadow.close()
	if err := bindBack(w.here().fd, "gone", shadow.here().fd); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(to); err != nil || len(left) != 0 {
		t.Errorf("left of it is %v (%v)", left, err)
	}
}
