package datadir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// In a directory such as /tmp another user may create the data directory between check and creation.
func TestADirectoryThatAnotherUserMakesMeanwhileIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	_, err := checked(dir, func(path string) error {
		return errors.Join(os.Mkdir(path, 0o700), os.Chown(path, 12345, 12345), makeFolders(path))
	})
	if errors.Is(err, os.ErrPermission) {
		t.Skipf("needs root to give a directory away: %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Errorf("made with %v", err)
	}
}

func TestFilesOfTheStoreAndOfTheKeysAreChecked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := Make(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"etcd/member/snap/db", "etcd/member/wal/0.wal", "pki/ca.crt", "pki/ca.key", "kubeconfig", "node-name", "lock"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		if _, err := Check(dir); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Skipf("needs root to give files away: %v", err)
		}
		remedy := "move this one away"
		if strings.HasPrefix(name, "pki") || name == "kubeconfig" {
			remedy = "the next server makes new ones"
		}
		if _, err := Check(dir); err == nil || !strings.Contains(err.Error(), path+" belongs to user 12345") || !strings.Contains(err.Error(), remedy) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Chown(path, os.Getuid(), -1); err != nil {
			t.Fatal(err)
		}
	}
}
