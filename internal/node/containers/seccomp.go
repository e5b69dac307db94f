package containers

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// seccompDir is the folder of the data directory that localhostProfile is relative to.
const seccompDir = "seccomp"

// maxProfile bounds the size of a profile in bytes. The largest published profiles have a tenth of it.
const maxProfile = 1 << 20

// filters compiles seccomp profiles. The default one is compiled once for each set of capabilities.
type filters struct {
	dir string

	mu       sync.Mutex
	compiled map[uint64]filter
}

type filter struct {
	instructions []runtime.Instruction
	flags        uint32
}

// of returns the seccomp filter of a container; none if the container is privileged or the pod asks for no filter.
func (f *filters) of(api *corev1.Pod, c *corev1.Container, capabilities uint64) (filter, error) {
	asked := securityOf(c).SeccompProfile
	if asked == nil && api.Spec.SecurityContext != nil {
		asked = api.Spec.SecurityContext.SeccompProfile
	}
	if asked == nil || isPrivileged(c) {
		return filter{}, nil
	}
	switch asked.Type {
	case corev1.SeccompProfileTypeRuntimeDefault:
		return f.runtimeDefault(capabilities)
	case corev1.SeccompProfileTypeLocalhost:
		return f.localhost(asked.LocalhostProfile, capabilities)
	}
	return filter{}, nil
}

func (f *filters) runtimeDefault(capabilities uint64) (filter, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if compiled, ok := f.compiled[capabilities]; ok {
		return compiled, nil
	}
	compiled, err := compile(seccomp.RuntimeDefault(), capabilities)
	if err == nil {
		if f.compiled == nil {
			f.compiled = map[uint64]filter{}
		}
		f.compiled[capabilities] = compiled
	}
	return compiled, err
}

func (f *filters) localhost(name *string, capabilities uint64) (filter, error) {
	if name == nil {
		return filter{}, fmt.Errorf("seccompProfile.localhostProfile is not set")
	}
	at := filepath.Join(f.dir, seccompDir)
	text, err := readBelow(at, *name)
	if err != nil {
		return filter{}, fmt.Errorf("seccomp profile %s of %s: %w", *name, at, err)
	}
	profile, err := seccomp.Parse(text)
	if err != nil {
		return filter{}, fmt.Errorf("seccomp profile %s of %s: %w", *name, at, err)
	}
	return compile(profile, capabilities)
}

// readBelow reads a file below dir. It follows no symbolic link out of dir.
func readBelow(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxProfile+1))
	if err == nil && len(text) > maxProfile {
		err = fmt.Errorf("it is longer than %d bytes", maxProfile)
	}
	return text, err
}

func compile(profile seccomp.Profile, capabilities uint64) (filter, error) {
	host, err := seccomp.ThisHost()
	if err != nil {
		return filter{}, err
	}
	program, err := profile.Compile(namesOfCapabilities(capabilities), host)
	if err != nil {
		return filter{}, fmt.Errorf("seccomp profile: %w", err)
	}
	f := filter{flags: uint32(profile.Flags)}
	for _, i := range program {
		f.instructions = append(f.instructions, runtime.Instruction{Code: i.Code, Jt: i.Jt, Jf: i.Jf, K: i.K})
	}
	return f, nil
}
