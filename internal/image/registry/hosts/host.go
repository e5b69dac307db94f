package hosts

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DockerHub is Docker's registry in the names of images, and dockerHubServer the host that serves it.
const (
	DockerHub       = "docker.io"
	dockerHubServer = "registry-1.docker.io"
)

// Host is one host to fetch images of a registry from.
type Host struct {
	// Scheme is http or https; Address is a name or IP with its port, if it has one.
	Scheme, Address string
	// Path precedes the repository, without a slash at the end: /v2 unless override_path says otherwise.
	Path string

	// Pull allows requests by digest; Resolve allows requests by tag, trusting the host with the tag's digest.
	Pull, Resolve bool
	// Mirror reports whether the host is one of the [host] entries, not the registry itself.
	Mirror bool
	// Fallback allows plain HTTP if the host answers HTTPS requests in plain HTTP.
	Fallback bool

	// Header is sent to this host only.
	Header http.Header

	CA          []string
	Clients     []Pair
	SkipVerify  *bool
	DialTimeout time.Duration
	Proxy       *url.URL
}

// Pair is a client certificate and its key, both files; without Key, the key is in the certificate's file.
type Pair struct{ Certificate, Key string }

// URL returns the URL of what, the path of a manifest or blob, in a repository. If the host is not the registry's own, the
// parameter ns names the registry, as in containerd.
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

// asRegistry returns h, which has only settings, with the address of the registry of that name.
func (h Host) asRegistry(registry string) Host {
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

// loopback relaxes the settings for a registry on this machine as containerd does: any certificate is accepted, and plain
// HTTP is used on any port but 443.
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

// preferHTTPS makes a host that is configured for HTTP, but has TLS settings, use HTTPS first.
func (h Host) preferHTTPS() Host {
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
