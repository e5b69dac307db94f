package hosts_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stint-dev/stint/internal/image/registry/hosts"
)

func ptr[T any](v T) *T { return &v }

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// server is the host that comes last, the registry itself.
func server(change func(*hosts.Host)) hosts.Host {
	h := hosts.Host{Scheme: "https", Address: "lan:5000", Path: "/v2", Pull: true, Resolve: true}
	if change != nil {
		change(&h)
	}
	return h
}

func mirror(address string, change func(*hosts.Host)) hosts.Host {
	h := server(change)
	h.Address, h.Mirror = address, true
	return h
}

func TestParse(t *testing.T) {
	for what, c := range map[string]struct {
		toml string
		want []hosts.Host
		err  string
	}{
		"nothing":                {want: []hosts.Host{server(nil)}},
		"a server":               {toml: `server = "https://b"`, want: []hosts.Host{server(func(h *hosts.Host) { h.Address = "b" })}},
		"a server without https": {toml: `server = "b"`, want: []hosts.Host{server(func(h *hosts.Host) { h.Address = "b" })}},
		"docker.io as a server":  {toml: `server = "https://docker.io"`, want: []hosts.Host{server(func(h *hosts.Host) { h.Address = "registry-1.docker.io" })}},
		"hosts in the order of the file": {
			toml: "[host.'https://c']\n[host.'https://a']\n[host.'https://b']",
			want: []hosts.Host{mirror("c", nil), mirror("a", nil), mirror("b", nil), server(nil)},
		},
		"the same with dots and braces": {
			toml: "host = {'https://c' = {}, 'https://a' = {skip_verify=false}}",
			want: []hosts.Host{mirror("c", nil), mirror("a", func(h *hosts.Host) { h.SkipVerify = ptr(false) }), server(nil)},
		},
		"keys with dots": {
			toml: "host.'https://c'.capabilities = ['pull']\n[host]\n'https://a'.capabilities = ['Resolve', 'push']",
			err:  "line 2",
		},
		"a table of hosts": {
			toml: "[host]\n'https://c'.capabilities = ['pull']\n'https://a'.capabilities = ['Resolve', 'push']",
			want: []hosts.Host{
				mirror("c", func(h *hosts.Host) { h.Resolve = false }),
				mirror("a", func(h *hosts.Host) { h.Pull = false }), server(nil),
			},
		},
		"plain HTTP": {toml: `[host."http://a:80"]`, want: []hosts.Host{mirror("a:80", func(h *hosts.Host) { h.Scheme = "http" }), server(nil)}},
		"plain HTTP with TLS settings": {
			toml: "[host.'http://a:81']\nskip_verify = true",
			want: []hosts.Host{mirror("a:81", func(h *hosts.Host) { h.Fallback, h.SkipVerify = true, ptr(true) }), server(nil)},
		},
		"paths": {
			toml: "[host.'https://a/x/']\n[host.'https://a/v2/x']\n[host.'https://a/x/v2']\n[host.'https://a/y/']\noverride_path = true\n[host.'https://a']\noverride_path = true",
			want: []hosts.Host{
				mirror("a", func(h *hosts.Host) { h.Path = "/x/v2" }), mirror("a", func(h *hosts.Host) { h.Path = "/v2/x/v2" }),
				mirror("a", func(h *hosts.Host) { h.Path = "/x/v2" }), mirror("a", func(h *hosts.Host) { h.Path = "/y" }),
				mirror("a", func(h *hosts.Host) { h.Path = "" }), server(nil),
			},
		},
		"certificates": {
			toml: "ca = 'a.crt'\nclient = [['c.cert', '/k.key'], ['d.pem', '']]\n[host.'https://a']\nca = ['/b.crt', 'c/d.crt']\nclient = 'e.pem'\n[host.'https://b']\nclient = ['e.pem', 'f.pem']",
			want: []hosts.Host{
				mirror("a", func(h *hosts.Host) {
					h.CA, h.Clients = []string{"/b.crt", "/etc/x/c/d.crt"}, []hosts.Pair{{Certificate: "/etc/x/e.pem"}}
				}),
				mirror("b", func(h *hosts.Host) {
					h.Clients = []hosts.Pair{{Certificate: "/etc/x/e.pem"}, {Certificate: "/etc/x/f.pem"}}
				}),
				server(func(h *hosts.Host) {
					h.CA = []string{"/etc/x/a.crt"}
					h.Clients = []hosts.Pair{{Certificate: "/etc/x/c.cert", Key: "/k.key"}, {Certificate: "/etc/x/d.pem"}}
				}),
			},
		},
		"headers": {
			toml: "[host.'https://a'.header]\nx-a = 'b'\nx-c = ['d', 'e']\n[header]\nx = 'y'",
			want: []hosts.Host{
				mirror("a", func(h *hosts.Host) { h.Header = http.Header{"X-A": {"b"}, "X-C": {"d", "e"}} }),
				server(func(h *hosts.Host) { h.Header = http.Header{"X": {"y"}} }),
			},
		},
		"a timeout": {toml: "dial_timeout = '2s'", want: []hosts.Host{server(func(h *hosts.Host) { h.DialTimeout = 2 * time.Second })}},

		"an unknown key":           {toml: "server = 'a'\nskip_verfy = true", err: `/etc/x/hosts.toml: line 2: unknown key "skip_verfy"`},
		"an unknown key of a host": {toml: "[host.'https://a']\ncas = 1", err: `line 2: unknown key "host.https://a.cas"`},
		"no TOML":                  {toml: "server = ", err: "/etc/x/hosts.toml: line 1: "},
		"an unknown capability":    {toml: "capabilities = ['fetch']", err: `"fetch" is none of pull, resolve, push`},
		"a password":               {toml: "[host.'https://me:secret@a']", err: "image pull secret"},
		"no address":               {toml: "[host.'']", err: "no address"},
		"another scheme":           {toml: "server = 'ftp://a'", err: "not a registry's address"},
		"a number for a ca":        {toml: "ca = 1", err: "ca: expected a string"},
		"three files for a pair":   {toml: "client = [['a', 'b', 'c']]", err: "client: a pair"},
		"a wrong timeout":          {toml: "dial_timeout = 'soon'", err: "dial_timeout"},
		"a proxy with a path":      {toml: "proxy = 'http://a/b'", err: "proxy"},
		"a header of numbers":      {toml: "[header]\na = [1]", err: `header "a"`},
	} {
		got, err := hosts.Parse("/etc/x/hosts.toml", []byte(c.toml), "lan:5000")
		switch {
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%s: error %v, want %s", what, err, c.err)
		case c.err == "" && err != nil:
			t.Errorf("%s: %v", what, err)
		case c.err == "":
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s: %s", what, d)
			}
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: the error has the password: %v", what, err)
		}
	}
}

func TestFindTakesTheFirstDirectoryThatHasTheRegistry(t *testing.T) {
	mine, system := t.TempDir(), t.TempDir()
	dirs := []string{filepath.Join(mine, "missing"), mine, system}
	find := func(registry string) string {
		t.Helper()
		list, err := hosts.Find(dirs, registry)
		if err != nil {
			t.Fatal(err)
		}
		return list[0].URL(registry, "a/b", "tags")
	}
	for registry, want := range map[string]string{
		"docker.io":          "https://registry-1.docker.io/v2/a/b/tags",
		"images.example.com": "https://images.example.com/v2/a/b/tags",
		"localhost":          "https://localhost/v2/a/b/tags",
		"localhost:80":       "http://localhost:80/v2/a/b/tags",
		"127.0.0.1:5000":     "https://127.0.0.1:5000/v2/a/b/tags",
	} {
		if got := find(registry); got != want {
			t.Errorf("without a directory: %s, want %s", got, want)
		}
	}
	for _, step := range []struct{ file, registry, want string }{
		{system + "/_default/hosts.toml", "lan:5000", "https://a/v2/a/b/tags?ns=lan%3A5000"},
		{mine + "/_default/hosts.toml", "lan:5000", "https://b/v2/a/b/tags?ns=lan%3A5000"},
		{system + "/lan:5000/hosts.toml", "lan:5000", "https://c/v2/a/b/tags?ns=lan%3A5000"},
		{system + "/lan_5000_/hosts.toml", "lan:5000", "https://d/v2/a/b/tags?ns=lan%3A5000"},
		{mine + "/lan:5000/hosts.toml", "lan:5000", "https://e/v2/a/b/tags?ns=lan%3A5000"},
	} {
		write(t, step.file, fmt.Sprintf("server = 'https://%s'", strings.Split(step.want, "/")[2]))
		if got := find(step.registry); got != step.want {
			t.Errorf("with %s: %s, want %s", step.file, got, step.want)
		}
	}
	write(t, mine+"/images.example.com/a.crt", "x")
	write(t, mine+"/images.example.com/b.cert", "x")
	list, err := hosts.Find(dirs, "images.example.com")
	if err != nil || list[0].CA[0] != mine+"/images.example.com/a.crt" || list[0].Clients[0].Key != mine+"/images.example.com/b.key" {
		t.Errorf("certificates as Docker names them: %v, %v", list, err)
	}
}

func TestDefaultDirs(t *testing.T) {
	env := map[string]string{"HOME": "/home/me"}
	if got := hosts.DefaultDirs(func(k string) string { return env[k] }); got[0] != "/home/me/.config/stint/registries.d" || len(got) != 3 {
		t.Error(got)
	}
	env["XDG_CONFIG_HOME"] = "/config"
	if got := hosts.DefaultDirs(func(k string) string { return env[k] }); got[0] != "/config/stint/registries.d" {
		t.Error(got)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"server = 'https://a'", "[host.'http://a:1/x']\ncapabilities=['pull']\nclient=[['a','b']]\n[host.'http://a'.header]\nx=['y']",
		"host = {'a' = {}}", "[host]\na.ca='b'", "[[host]]", "proxy='http://a'\ndial_timeout='1s'",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := hosts.Parse("/x/hosts.toml", data, "lan:5000")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "/x/hosts.toml: ") {
				t.Errorf("%q names no file", err)
			}
			return
		}
		if len(list) == 0 || list[len(list)-1].Mirror {
			t.Errorf("no server: %v", list)
		}
		for _, h := range list {
			if h.Address == "" || (h.Scheme != "http" && h.Scheme != "https") || strings.HasSuffix(h.Path, "/") {
				t.Errorf("host %+v", h)
			}
		}
	})
}
