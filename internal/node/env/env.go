// Package env makes the environment and the command line of a container from its spec.
//
// A process has no image that could set its PATH or HOME, so it inherits a base from the environment of the server:
// PATH, HOME, USER, LANG, LC_*, TZ and TMPDIR, each only if the pod does not set it. $(VAR) references are not expanded
// from the base, just as they are not expanded from an image's environment. A container that runs as another user
// inherits only LANG, LC_* and TZ, and gets its own user's HOME and USER.
package env

import (
	"context"
	"fmt"
	"maps"
	"os/user"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/config"
	"github.com/stint-dev/stint/internal/node/downward"
)

// Resolver makes environments for the containers of one node.
type Resolver struct {
	Configs config.Reader
	Facts   downward.Facts
	// Base holds NAME=value pairs; see Base.
	Base []string
}

// Vars is a resolved environment.
type Vars struct {
	names  []string
	values map[string]string
}

// Base returns those variables of the server's environment that processes inherit, as there is no image to set them.
func Base(environ []string) []string {
	var base []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		switch name {
		case "PATH", "HOME", "USER", "LANG", "TZ", "TMPDIR":
			base = append(base, pair)
		default:
			if strings.HasPrefix(name, "LC_") {
				base = append(base, pair)
			}
		}
	}
	return base
}

// As returns a resolver for containers that run as another user of this machine; account is nil if the user has none.
// The runtime sets PATH and TMPDIR, and HOME for a user without an account.
func (r Resolver) As(account *user.User) Resolver {
	var base []string
	for _, pair := range r.Base {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "PATH", "HOME", "USER", "TMPDIR":
		default:
			base = append(base, pair)
		}
	}
	if account != nil {
		base = append(base, "HOME="+account.HomeDir, "USER="+account.Username)
	}
	r.Base = base
	return r
}

// Pod is a pod, the folder that holds its volumes, and the variables of Services as NAME=value pairs. The container's spec may
// refer to those, and replace them.
type Pod struct {
	*corev1.Pod
	VolumesDir string
	Services   []string
}

// Resolve resolves the container's environment, reading the objects that it refers to. An error names what is missing.
func (r Resolver) Resolve(ctx context.Context, pod Pod, c *corev1.Container) (*Vars, error) {
	v := &Vars{values: map[string]string{}}
	for _, pair := range pod.Services {
		name, value, _ := strings.Cut(pair, "=")
		v.set(name, value)
	}
	for i := range c.EnvFrom {
		if err := r.addAll(ctx, v, pod, &c.EnvFrom[i]); err != nil {
			return nil, err
		}
	}
	for i := range c.Env {
		e := &c.Env[i]
		value, found, err := r.value(ctx, v, pod, c.Name, e)
		if err != nil {
			return nil, fmt.Errorf("environment variable %s: %w", e.Name, err)
		}
		if found {
			v.set(e.Name, value)
		}
	}
	return v, nil
}

// Environ returns NAME=value pairs: the base and HOSTNAME where v does not set them, followed by v.
func (r Resolver) Environ(v *Vars, hostname string) []string {
	environ := make([]string, 0, len(r.Base)+len(v.names)+1)
	for _, pair := range append(slices.Clone(r.Base), "HOSTNAME="+hostname) {
		name, _, _ := strings.Cut(pair, "=")
		if _, set := v.values[name]; !set {
			environ = append(environ, pair)
		}
	}
	return append(environ, v.Pairs()...)
}

// Command returns the whole argument vector with every $(VAR) expanded.
func (v *Vars) Command(c *corev1.Container) []string {
	return append(v.ExpandAll(c.Command), v.ExpandAll(c.Args)...)
}

// ExpandAll returns words with every $(VAR) expanded.
func (v *Vars) ExpandAll(words []string) []string {
	expanded := make([]string, 0, len(words))
	for _, word := range words {
		expanded = append(expanded, Expand(word, v.Lookup))
	}
	return expanded
}

// Pairs returns the variables that the container's spec sets, as NAME=value.
func (v *Vars) Pairs() []string {
	pairs := make([]string, 0, len(v.names))
	for _, name := range v.names {
		pairs = append(pairs, name+"="+v.values[name])
	}
	return pairs
}

// Lookup returns the value of a variable that the container's spec sets.
func (v *Vars) Lookup(name string) (string, bool) {
	value, ok := v.values[name]
	return value, ok
}

// set sets a variable. One that is set twice keeps its first place and gets the last value.
func (v *Vars) set(name, value string) {
	if _, ok := v.values[name]; !ok {
		v.names = append(v.names, name)
	}
	v.values[name] = value
}

func (r Resolver) addAll(ctx context.Context, v *Vars, pod Pod, from *corev1.EnvFromSource) error {
	values := map[string]string{}
	switch {
	case from.ConfigMapRef != nil:
		m, err := r.Configs.ConfigMap(ctx, pod.Namespace, from.ConfigMapRef.Name, from.ConfigMapRef.Optional)
		if err != nil {
			return err
		}
		if m != nil {
			values = m.Data
		}
	case from.SecretRef != nil:
		s, err := r.Configs.Secret(ctx, pod.Namespace, from.SecretRef.Name, from.SecretRef.Optional)
		if err != nil {
			return err
		}
		if s != nil {
			values = text(s.Data)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		v.set(from.Prefix+key, values[key])
	}
	return nil
}

func text(data map[string][]byte) map[string]string {
	values := make(map[string]string, len(data))
	for key, value := range data {
		values[key] = string(value)
	}
	return values
}
