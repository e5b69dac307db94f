package target

import (
	"fmt"
	"os"
	"path/filepath"
)

// DefaultDataDir is the data directory without the flag --data-dir.
func DefaultDataDir() (string, error) {
	if dir := os.Getenv("STINT_DATA_DIR"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "stint"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no place for data: %w: set --data-dir or STINT_DATA_DIR", err)
	}
	return filepath.Join(home, ".local", "share", "stint"), nil
}
