package hosts

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DockerHub is how names say Docker's registry, and dockerHubServer where it answers.
const (
	DockerHub       = "docker.io"
	dockerHubServer = "registry-1.docker.io"
)

// Host is one place to fetch images of a registry from.
type Host struct {
	// Scheme is http or https; Address is a name or IP with its port, if it has one.
	Scheme, Address string
	// Path precedes the repository, without a slash at the end: /v2 unless override_path says otherwise.
	Path string

	// Pull allows what is known by digest; Resolve trusts the host to say which digest a tag has.
	Pull, Resolve bool
	// Mirror reports that the host is one of the [host] entries, not the registry itself.
	Mirror bool
	// Fallback allows plain HTTP where a host asked by HTTPS answers in plain HTTP.
	Fallback bool

	// Header is sent to this host alone.
	Header http.Header

	CA          []string
	Clients     []Pair
	SkipVerify  *bool
	DialTimeout time.Duration
	Proxy       *url.URL
}

// Pair is a client certificate and its key, both files; without Key, the key is in the certificate's file.
type Pair struct{ Certificate, Key string }

// URL is where what (a manifest's or blob's path) of a repository is. A host that stands in for another registry is told
// which one by ns, as containerd does.
func (h Host) URL(registry, repository, what string) string {
	u := url.URL{Scheme: h.Scheme, Host: h.Address, Path: h.Path + "/" + repository + "/" + what}
	if h.standsInFor(registry) {
		u.RawQuery = url.Values{"ns": {registry}}.Encode()
	}
	return u.String()
}

func (h Host) standsInFor(registry string) bool {
	return h.Address != registry && !(registry == DockerHub && h.Address == dockerHubServer)
}

// itself completes h, of which only the settings are known, to the registry of that name.
func (h Host) itself(registry string) Host {
	h.Scheme, h.Address, h.Path = "https", registry, "/v2"
	h.Pull, h.Resolve = true, true
	if registry == DockerHub {
		h.Address = dockerHubServer
		return h
	}
	if loopback(registry) {
		h.loopback()
	}
	return h
}

// loopback is what containerd allows a registry on this machine: any certificate, and plain HTTP unless it listens on
// the port of HTTPS.
func (h *Host) loopback() {
	port := portOf(h.Address)
	if port != "" && port != "443" {
		h.Scheme = "http"
	}
	if port != "80" && h.SkipVerify == nil {
		yes := true
		h.SkipVerify = &yes
	}
}

// settle has a host that is configured for HTTP, yet has TLS settings, be asked by HTTPS first.
func (h Host) settle() Host {
	tls := h.SkipVerify != nil || len(h.CA) > 0 || len(h.Clients) > 0
	if h.Scheme == "http" && tls && portOf(h.Address) != "80" {
		h.Scheme, h.Fallback = "https", true
	}
	return h
}

func loopback(address string) bool {
	name := address
	if host, _, err := net.SplitHostPort(address); err == nil {
		name = host
	}
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return ip != nil && ip.IsLoopback()
}

func portOf(address string) string {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return ""
	}
	return port
}
