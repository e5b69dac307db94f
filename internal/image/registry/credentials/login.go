package credentials

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxConfig bounds a docker config, in bytes.
const maxConfig = 4 << 20

// Logins are the docker configs of the user. They are read at each use, as the user may have logged in since.
type Logins struct {
	Files []string
}

// UserLogins returns the files in which docker and podman store the user's logins, docker's first.
func UserLogins(getenv func(string) string) Logins {
	var files []string
	home := getenv("HOME")
	if dir := getenv("DOCKER_CONFIG"); dir != "" {
		files = append(files, filepath.Join(dir, "config.json"))
	} else if home != "" {
		files = append(files, filepath.Join(home, ".docker", "config.json"))
	}
	if file := getenv("REGISTRY_AUTH_FILE"); file != "" {
		return Logins{Files: append(files, file)}
	}
	if dir := getenv("XDG_RUNTIME_DIR"); dir != "" {
		files = append(files, filepath.Join(dir, "containers", "auth.json"))
	}
	if dir := getenv("XDG_CONFIG_HOME"); dir != "" {
		files = append(files, filepath.Join(dir, "containers", "auth.json"))
	} else if home != "" {
		files = append(files, filepath.Join(home, ".config", "containers", "auth.json"))
	}
	return Logins{Files: files}
}

// Find implements Keychain.
func (l Logins) Find(ctx context.Context, repository string) ([]Credential, error) {
	var found []Credential
	var problems []error
	for _, file := range l.Files {
		more, err := login(ctx, file, repository)
		found = append(found, more...)
		problems = append(problems, err)
	}
	return found, errors.Join(problems...)
}

// login returns the credential of the helper program that the file names for the registry, or else for all registries, and then
// those in the file itself.
func login(ctx context.Context, file, repository string) ([]Credential, error) {
	c, err := readConfig(file)
	if err != nil {
		return nil, err
	}
	registry, _, _ := strings.Cut(repository, "/")
	var found []Credential
	var problem error
	if name := c.helper(registry); name != "" {
		var kept *Credential
		if kept, problem = runHelper(ctx, name, serverKey(registry)); kept != nil {
			found = append(found, *kept)
		}
	}
	k := &Keyring{}
	if err := k.addAll(file, c.Auths); err != nil {
		return found, errors.Join(problem, fmt.Errorf("%s: %w", file, err))
	}
	written, _ := k.Find(ctx, repository)
	return append(found, written...), problem
}

func readConfig(file string) (config, error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return config{}, nil
	}
	if err != nil {
		return config{}, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxConfig {
		return config{}, fmt.Errorf("%s is not a docker config", file)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return config{}, err
	}
	if len(data) == 0 {
		return config{}, nil
	}
	c, err := decode[config](data)
	if err != nil {
		return config{}, fmt.Errorf("%s: %w", file, err)
	}
	return c, nil
}

func (c config) helper(registry string) string {
	for _, key := range []string{registry, serverKey(registry)} {
		if name := c.CredHelpers[key]; name != "" {
			return name
		}
	}
	return c.CredsStore
}

// serverKey returns the name under which docker login stores a registry.
func serverKey(registry string) string {
	if registry == "docker.io" {
		return "https://" + dockerHub + "/v1/"
	}
	return registry
}
