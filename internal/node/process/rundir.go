package process

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
	"golang.org/x/sys/unix"
)

// pointerName is the file in the data directory that says where the run directory is. It is found through the file
// even where the environment would now lead elsewhere.
const pointerName = "process-runtime"

// runDir returns the directory for socket and journal, made if need be.
func runDir(dataDir string) (string, error) {
	if data, err := os.ReadFile(filepath.Join(dataDir, pointerName)); err == nil {
		dir := strings.TrimSpace(string(data))
		if _, err := os.Lstat(dir); err == nil && makePrivate(dir) == nil {
			return dir, nil
		}
	}
	dir, err := chooseRunDir(dataDir)
	if err != nil {
		return "", err
	}
	err = renameio.WriteFile(filepath.Join(dataDir, pointerName), []byte(dir+"\n"), 0o600)
	return dir, err
}

// chooseRunDir prefers places in memory: what is kept there changes with every container, and means nothing after
// the machine has been started again.
func chooseRunDir(dataDir string) (string, error) {
	sum := sha256.Sum256([]byte(dataDir))
	name := fmt.Sprintf("stint-%d-%s", os.Geteuid(), hex.EncodeToString(sum[:8]))
	var failed error
	for _, onlyMemory := range []bool{true, false} {
		for _, place := range places() {
			if onlyMemory && !inMemory(place) {
				continue
			}
			dir := filepath.Join(place, name)
			err := makePrivate(dir)
			if err == nil {
				return dir, nil
			}
			failed = err
		}
	}
	return "", fmt.Errorf("no place for a socket: %w", failed)
}

func places() []string {
	var all []string
	if os.Geteuid() == 0 {
		all = append(all, "/run")
	}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		all = append(all, dir)
	}
	return append(all, "/dev/shm", os.TempDir())
}

func inMemory(dir string) bool {
	var stat unix.Statfs_t
	if unix.Statfs(dir, &stat) != nil {
		return false
	}
	return stat.Type == unix.TMPFS_MAGIC || stat.Type == unix.RAMFS_MAGIC
}

// makePrivate makes dir, or makes sure that it is nobody else's: some of the places belong to everyone.
func makePrivate(dir string) error {
	if err := os.Mkdir(dir, 0o711); err != nil && !os.IsExist(err) {
		return err
	}
	var stat unix.Stat_t
	if err := unix.Lstat(dir, &stat); err != nil {
		return &os.PathError{Op: "lstat", Path: dir, Err: err}
	}
	if stat.Mode&unix.S_IFMT != unix.S_IFDIR || int(stat.Uid) != os.Geteuid() || stat.Mode&0o022 != 0 {
		return fmt.Errorf("%s is not a directory that only user %d can write to: remove it", dir, os.Geteuid())
	}
	return nil
}
