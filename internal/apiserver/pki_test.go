package apiserver

import (
	"bytes"
	"crypto/tls"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCertificatesAreKeptUntilTheyAreAboutToEnd(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	cases := map[string]struct {
		later     time.Duration
		hosts     []string
		newCA     bool
		newServer bool
	}{
		"a year later all are kept":                  {later: 365 * 24 * time.Hour},
		"near the end of the server's it is renewed": {later: certValidity - renewBefore + time.Hour, newServer: true},
		"near the end of the CA's all are renewed":   {later: caValidity - renewBefore + time.Hour, newCA: true, newServer: true},
		"another address needs another certificate":  {hosts: []string{"192.0.2.1"}, newServer: true},
		"another name needs another certificate":     {hosts: []string{"kubernetes.default"}, newServer: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first, err := loadPKI(dir, now)
			if err != nil {
				t.Fatal(err)
			}
			firstServer := serverPair(t, first)
			second, err := loadPKI(dir, now.Add(c.later))
			if err != nil {
				t.Fatal(err)
			}
			secondServer := serverPair(t, second, c.hosts...)
			if renewed := !bytes.Equal(first.CA, second.CA); renewed != c.newCA {
				t.Errorf("CA renewed: %v, want %v", renewed, c.newCA)
			}
			if renewed := !bytes.Equal(firstServer.Cert, secondServer.Cert); renewed != c.newServer {
				t.Errorf("server certificate renewed: %v, want %v", renewed, c.newServer)
			}
			if first.Token != second.Token {
				t.Error("the token changed")
			}
		})
	}
}

// The files are those after a kill at each step of writePair.
func TestACrashBetweenKeyAndCertificateBlocksNoStart(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	old, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{old, other} {
		p, err := loadPKI(dir, now)
		if err != nil {
			t.Fatal(err)
		}
		serverPair(t, p)
	}
	read := func(dir, name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for step, test := range map[string]struct {
		files map[string]string // name of a file: name of the file of other with its content
		want  string            // directory with the expected CA
	}{
		"the new key is written":    {map[string]string{"ca.key.new": "ca.key"}, old},
		"and the new certificate":   {map[string]string{"ca.key.new": "ca.key", "ca.crt.new": "ca.crt"}, old},
		"the key has moved":         {map[string]string{"ca.key": "ca.key", "ca.crt.new": "ca.crt"}, other},
		"the certificate has moved": {map[string]string{"ca.key": "ca.key", "ca.crt": "ca.crt"}, other},
	} {
		t.Run(step, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "pki")
			if err := os.CopyFS(dir, os.DirFS(old)); err != nil {
				t.Fatal(err)
			}
			for name, from := range test.files {
				if err := os.WriteFile(filepath.Join(dir, name), read(other, from), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				p, err := loadPKI(dir, now)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(p.CA, read(test.want, "ca.crt")) {
					t.Error("it has another CA")
				}
				server := serverPair(t, p)
				if _, err := tls.X509KeyPair(server.Cert, server.Key); err != nil {
					t.Error(err)
				}
			}
			if left, err := filepath.Glob(filepath.Join(dir, "ca.crt.new")); err != nil || len(left) > 0 {
				t.Errorf("left is %v, %v", left, err)
			}
		})
	}
}

func TestATokenThatIsNoFileIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.Symlink("/dev/zero", path); err != nil {
		t.Fatal(err)
	}
	if _, err := loadToken(path); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("loaded with %v", err)
	}
}

func serverPair(t *testing.T, p *pki, hosts ...string) keyPair {
	t.Helper()
	pair, err := p.server(hosts...)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}
