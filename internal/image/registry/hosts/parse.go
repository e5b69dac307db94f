package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
)

// document is a hosts.toml: settings of the server at the root, and a table for each host.
type document struct {
	settings
	Server string              `toml:"server"`
	Hosts  map[string]settings `toml:"host"`
}

// settings are the keys of one host. Values of type any may be strings or lists.
type settings struct {
	Capabilities []string       `toml:"capabilities"`
	CA           any            `toml:"ca"`
	Client       any            `toml:"client"`
	SkipVerify   *bool          `toml:"skip_verify"`
	Header       map[string]any `toml:"header"`
	OverridePath bool           `toml:"override_path"`
	DialTimeout  string         `toml:"dial_timeout"`
	Proxy        string         `toml:"proxy"`
}

// Parse parses the hosts.toml of a registry. Errors name the file. Relative paths in it start from the directory of file.
func Parse(file string, data []byte, registry string) ([]Host, error) {
	hosts, err := parse(filepath.Dir(file), data, registry)
	if err != nil {
		return nil, fmt.Errorf("%s: %s", file, user.ReplaceAllString(err.Error(), "…@"))
	}
	return hosts, nil
}

// user matches a user and password in an address.
var user = regexp.MustCompile(`[^/\s]*@`)

func parse(dir string, data []byte, registry string) ([]Host, error) {
	var d document
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&d); err != nil {
		return nil, withLine(err)
	}
	var hosts []Host
	for _, name := range order(data, d.Hosts) {
		if name == "" {
			return nil, errors.New("a host has no address")
		}
		h, err := d.Hosts[name].host(dir, name)
		if err != nil {
			return nil, fmt.Errorf("host %q: %w", name, err)
		}
		h.Mirror = true
		hosts = append(hosts, h.preferHTTPS())
	}
	server, err := d.host(dir, d.Server)
	if err != nil {
		return nil, err
	}
	if d.Server == "" {
		server = server.asRegistry(registry)
	}
	return append(hosts, server.preferHTTPS()), nil
}

// withLine returns an error with the line of an unknown key, or the line that is not TOML.
func withLine(err error) error {
	var unknown *toml.StrictMissingError
	if errors.As(err, &unknown) && len(unknown.Errors) > 0 {
		first := unknown.Errors[0]
		row, _ := first.Position()
		return fmt.Errorf("line %d: unknown key %q", row, strings.Join(first.Key(), "."))
	}
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		row, _ := bad.Position()
		return fmt.Errorf("line %d: %s", row, strings.TrimPrefix(bad.Error(), "toml: "))
	}
	return err
}

// host returns the host at address with these settings; only the settings if address is empty.
func (s settings) host(dir, address string) (Host, error) {
	h := Host{SkipVerify: s.SkipVerify}
	for _, part := range []func(*Host) error{
		func(h *Host) error { return s.address(h, address) },
		s.capabilities,
		func(h *Host) error { return s.certificates(h, dir) },
		s.headers,
		s.timeout,
		s.proxy,
	} {
		if err := part(&h); err != nil {
			return Host{}, err
		}
	}
	return h, nil
}

func (s settings) address(h *Host, address string) error {
	if address == "" {
		return nil
	}
	if !strings.Contains(address, "://") {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q is not a registry's address such as https://mirror.example.com", address)
	}
	if u.User != nil {
		return errors.New("an address has no user and password: they belong in an image pull secret or a docker config")
	}
	h.Scheme, h.Address, h.Path = u.Scheme, u.Host, u.Path
	if h.Address == DockerHub {
		// The documentation of containerd has server = "https://docker.io", which serves no registry.
		h.Address = dockerHubServer
	}
	if h.Path != "" {
		h.Path = strings.TrimSuffix(path.Clean(h.Path), "/")
	}
	if !s.OverridePath && !strings.HasSuffix(h.Path, "/v2") {
		h.Path += "/v2"
	}
	return nil
}

func (s settings) capabilities(h *Host) error {
	if len(s.Capabilities) == 0 {
		h.Pull, h.Resolve = true, true
	}
	for _, c := range s.Capabilities {
		switch strings.ToLower(c) {
		case "pull":
			h.Pull = true
		case "resolve":
			h.Resolve = true
		case "push":
		default:
			return fmt.Errorf("capabilities: %q is none of pull, resolve, push", c)
		}
	}
	return nil
}

func (s settings) headers(h *Host) error {
	for name, value := range s.Header {
		values, err := stringsOf(value)
		if err != nil {
			return fmt.Errorf("header %q: %w", name, err)
		}
		if h.Header == nil {
			h.Header = http.Header{}
		}
		for _, v := range values {
			h.Header.Add(name, v)
		}
	}
	return nil
}

func (s settings) timeout(h *Host) error {
	if s.DialTimeout == "" {
		return nil
	}
	d, err := time.ParseDuration(s.DialTimeout)
	if err != nil || d <= 0 {
		return fmt.Errorf("dial_timeout: %q is not a time such as 5s", s.DialTimeout)
	}
	h.DialTimeout = d
	return nil
}

func (s settings) proxy(h *Host) error {
	if s.Proxy == "" {
		return nil
	}
	u, err := url.Parse(s.Proxy)
	if err != nil || u.Host == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("proxy: not the address of a proxy such as http://proxy.example.com:8080")
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		h.Proxy = u
		return nil
	}
	return fmt.Errorf("proxy: %q is none of http, https, socks5, socks5h", u.Scheme)
}
