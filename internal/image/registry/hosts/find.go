package hosts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxFile bounds a hosts.toml, in bytes.
const maxFile = 1 << 20

// DefaultDirs returns the directories to search, the user's own first.
func DefaultDirs(getenv func(string) string) []string {
	var dirs []string
	if config := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(config) {
		dirs = append(dirs, filepath.Join(config, "stint", "registries.d"))
	} else if home := getenv("HOME"); filepath.IsAbs(home) {
		dirs = append(dirs, filepath.Join(home, ".config", "stint", "registries.d"))
	}
	return append(dirs, "/etc/stint/registries.d", "/etc/containerd/certs.d")
}

// Find returns the hosts of a registry in the order to try them. The first directory that has the registry counts; _default
// counts only if none has. Files are read at each call, so that a change needs no restart.
func Find(dirs []string, registry string) ([]Host, error) {
	dir, err := directory(dirs, registry)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return []Host{Host{}.asRegistry(registry).preferHTTPS()}, nil
	}
	return load(dir, registry)
}

func directory(dirs []string, registry string) (string, error) {
	for _, named := range []func(string) []string{directoryNames, defaultName} {
		for _, root := range dirs {
			for _, n := range named(registry) {
				path := filepath.Join(root, n)
				info, err := os.Stat(path)
				if err == nil && info.IsDir() {
					return path, nil
				}
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return "", fmt.Errorf("look for the settings of registry %s: %w", registry, err)
				}
			}
		}
	}
	return "", nil
}

func directoryNames(registry string) []string {
	if i := strings.LastIndex(registry, ":"); i > 0 && !strings.HasSuffix(registry, "]") {
		return []string{registry[:i] + "_" + registry[i+1:] + "_", registry}
	}
	return []string{registry}
}

func defaultName(string) []string { return []string{"_default"} }

func load(dir, registry string) ([]Host, error) {
	file := filepath.Join(dir, "hosts.toml")
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return dockerCertificates(dir, registry)
	}
	if err != nil {
		return nil, err
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", file, maxFile)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return Parse(file, data, registry)
}

// dockerCertificates reads a directory as Docker does: *.crt are certificate authorities, *.cert with *.key client certificates.
func dockerCertificates(dir, registry string) ([]Host, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var h Host
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		switch filepath.Ext(e.Name()) {
		case ".crt":
			h.CA = append(h.CA, path)
		case ".cert":
			h.Clients = append(h.Clients, Pair{Certificate: path, Key: strings.TrimSuffix(path, ".cert") + ".key"})
		}
	}
	return []Host{h.asRegistry(registry).preferHTTPS()}, nil
}
