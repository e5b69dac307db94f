package apiserver

import (
	"bytes"
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
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			first, err := loadPKI(dir, nil, now)
			if err != nil {
				t.Fatal(err)
			}
			second, err := loadPKI(dir, c.hosts, now.Add(c.later))
			if err != nil {
				t.Fatal(err)
			}
			if renewed := !bytes.Equal(first.CA, second.CA); renewed != c.newCA {
				t.Errorf("CA renewed: %v, want %v", renewed, c.newCA)
			}
			if renewed := !bytes.Equal(first.Server.Cert, second.Server.Cert); renewed != c.newServer {
				t.Errorf("server certificate renewed: %v, want %v", renewed, c.newServer)
			}
			if first.Token != second.Token {
				t.Error("the token changed")
			}
		})
	}
}
