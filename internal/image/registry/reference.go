package registry

import (
	"fmt"
	"net"
	"regexp"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/stint-dev/stint/internal/image/registry/hosts"
	"github.com/stint-dev/stint/internal/visible"
)

// Reference is the complete name of an image.
type Reference struct {
	// Registry is docker.io if the name has none.
	Registry string
	// Repository begins with library/ if it is on Docker Hub and the name has one part only.
	Repository string
	// Tag is latest if the name has neither tag nor digest, and empty if it has only a digest.
	Tag string
	// Digest is the zero Hash if the name has none. If it has one, the tag does not count.
	Digest v1.Hash
}

const maxRepository = 255

var (
	validRepository = regexp.MustCompile(`^[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*$`)
	validTag        = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$`)
	validHost       = regexp.MustCompile(`^(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9])(?:\.(?:[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9-]*[A-Za-z0-9]))*$`)
	validPort       = regexp.MustCompile(`^[0-9]{1,5}$`)
	imageID         = regexp.MustCompile(`^[a-f0-9]{64}$`)
)

// Parse completes a name as docker and the kubelet do: perl is docker.io/library/perl:latest.
func Parse(name string) (Reference, error) {
	r, problem := parse(name)
	if problem != "" {
		return Reference{}, fmt.Errorf("%q is %w: %s", shorten(name), ErrInvalidName, problem)
	}
	return r, nil
}

func parse(name string) (r Reference, problem string) {
	rest, digest, hasDigest := strings.Cut(name, "@")
	if hasDigest {
		h, err := v1.NewHash(digest)
		if err != nil || !known(h) {
			return r, "the digest is not sha256: and 64 hexadecimal digits"
		}
		r.Digest = h
	}
	switch {
	case strings.Contains(name, "://"):
		return r, "a name has no http:// or https:// in front"
	case imageID.MatchString(rest):
		return r, "this is an image ID, not a name"
	}
	if i := strings.LastIndex(rest, ":"); i > strings.LastIndex(rest, "/") {
		rest, r.Tag = rest[:i], rest[i+1:]
		if !validTag.MatchString(r.Tag) {
			return r, "the tag has letters, digits, _ . - and at most 128 of them"
		}
	} else if !hasDigest {
		r.Tag = "latest"
	}
	r.Registry, r.Repository = splitRegistry(rest)
	return r, problemOf(r.Registry, r.Repository)
}

// splitRegistry splits off the first part of a name if it looks like a registry, as docker does.
func splitRegistry(name string) (registry, repository string) {
	registry, repository, ok := strings.Cut(name, "/")
	if !ok || !strings.ContainsAny(registry, ".:") && registry != "localhost" && registry == strings.ToLower(registry) {
		registry, repository = hosts.DockerHub, name
	}
	if registry == "index.docker.io" || registry == "registry-1.docker.io" {
		registry = hosts.DockerHub
	}
	if registry == hosts.DockerHub && !strings.Contains(repository, "/") {
		repository = "library/" + repository
	}
	return registry, repository
}

func problemOf(registry, repository string) string {
	switch {
	case !validAddress(registry):
		return fmt.Sprintf("%s is not the address of a registry", shorten(registry))
	case repository != strings.ToLower(repository):
		return "the repository has capital letters"
	case !validRepository.MatchString(repository):
		return "the repository has lower case letters and digits, single . _ - between them, and / between its parts"
	case len(repository) > maxRepository:
		return fmt.Sprintf("the repository has more than %d characters", maxRepository)
	}
	return ""
}

func validAddress(address string) bool {
	if inner, ok := strings.CutPrefix(address, "["); ok {
		ip, port, ok := strings.Cut(inner, "]")
		return ok && strings.Contains(ip, ":") && net.ParseIP(ip) != nil &&
			(port == "" || port[0] == ':' && validPort.MatchString(port[1:]))
	}
	name, port, ok := strings.Cut(address, ":")
	return validHost.MatchString(name) && (!ok || validPort.MatchString(port))
}

// Name is the registry and the repository.
func (r Reference) Name() string { return r.Registry + "/" + r.Repository }

// String implements fmt.Stringer; what it returns parses to the same reference.
func (r Reference) String() string {
	s := r.Name()
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.byDigest() {
		s += "@" + r.Digest.String()
	}
	return s
}

// known reports whether a digest can be verified. OCI also allows others than sha256, which are hardly ever used.
func known(h v1.Hash) bool { return h.Algorithm == "sha256" }

func (r Reference) byDigest() bool { return r.Digest != v1.Hash{} }

// manifest returns the path of the manifest in the repository.
func (r Reference) manifest() string {
	if r.byDigest() {
		return "manifests/" + r.Digest.String()
	}
	return "manifests/" + r.Tag
}

// shorten makes text from outside fit into a message: valid UTF-8, without control characters, on one line, and of at most 200
// bytes.
func shorten(s string) string {
	const most = 200
	s = visible.Text(strings.NewReplacer("\r\n", " ", "\n", " ", "\t", " ").Replace(s))
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
