package store

import (
	"context"
	"testing"
)

func TestDefragmentationHasToPay(t *testing.T) {
	const mb = 1 << 20
	cases := map[string]struct {
		size, inUse int64
		want        bool
	}{
		"a small store never does":         {size: 100 * mb, inUse: 1 * mb},
		"a full one does not":              {size: 500 * mb, inUse: 400 * mb},
		"just less than half waste":        {size: 500 * mb, inUse: 251 * mb},
		"half waste does":                  {size: 500 * mb, inUse: 250 * mb, want: true},
		"the smallest that may, all waste": {size: defragMinBytes, inUse: 0, want: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := worthDefragmenting(c.size, c.inUse); got != c.want {
				t.Errorf("worth it: %v, want %v", got, c.want)
			}
		})
	}
}

func TestADefragmentedStoreOpensWithAllThatItHeld(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Client().Put(t.Context(), "/k", "v"); err != nil {
		t.Fatal(err)
	}
	if err := s.maintenance.defragment(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got, err := again.Client().Get(t.Context(), "/k"); err != nil || len(got.Kvs) != 1 {
		t.Errorf("after defragmentation: %v, %v", got, err)
	}
}
