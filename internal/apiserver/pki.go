package apiserver

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stint-dev/stint/internal/datadir"
)

const (
	caValidity   = 20 * 365 * 24 * time.Hour
	certValidity = 5 * 365 * 24 * time.Hour
	// renewBefore is the remaining validity below which a start renews a certificate.
	renewBefore = 180 * 24 * time.Hour
)

// pki has the certificates and the token of one data directory. They are kept over restarts, so that a copied kubeconfig
// keeps working.
//
//	pki/ca.crt, ca.key          signs the other two
//	pki/server.crt, server.key  127.0.0.1, ::1, localhost, the Service kubernetes, and where pods reach the server
//	pki/admin.crt, admin.key    client certificate of the kubeconfig
//	pki/token                   bearer token of the same user
type pki struct {
	CA     []byte
	Admin  keyPair
	Token  string
	issuer issuer
}

// keyPair is a certificate and its key in PEM.
type keyPair struct{ Cert, Key []byte }

// loadPKI reads the files in dir. It makes those that are missing and renews certificates that are about to expire.
// Server and client certificates that are unreadable are renewed too; an unreadable CA is an error.
func loadPKI(dir string, now time.Time) (*pki, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory for certificates: %w", err)
	}
	ca, caCert, caKey, err := loadCA(dir, now)
	if err != nil {
		return nil, err
	}
	issuer := issuer{dir: dir, cert: caCert, key: caKey, now: now}
	admin, err := issuer.load("admin", &x509.Certificate{
		Subject:     pkix.Name{CommonName: adminName, Organization: []string{adminGroup}},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	token, err := loadToken(filepath.Join(dir, "token"))
	if err != nil {
		return nil, err
	}
	return &pki{CA: ca.Cert, Admin: admin, Token: token, issuer: issuer}, nil
}

// server returns the certificate of a server that has these names and addresses besides those of the loopback interface.
func (p *pki) server(hosts ...string) (keyPair, error) {
	return p.issuer.load("server", serverTemplate(hosts))
}

func serverTemplate(hosts []string) *x509.Certificate {
	t := &x509.Certificate{
		Subject:     pkix.Name{CommonName: "stint"},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1).To4(), net.IPv6loopback},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			if !ip.IsLoopback() && !ip.IsUnspecified() {
				t.IPAddresses = append(t.IPAddresses, ip)
			}
		} else if host != "" && host != "localhost" {
			t.DNSNames = append(t.DNSNames, host)
		}
	}
	return t
}

func loadCA(dir string, now time.Time) (keyPair, *x509.Certificate, crypto.Signer, error) {
	pair, cert, key, err := readPair(dir, "ca")
	if err == nil && now.Add(renewBefore).Before(cert.NotAfter) {
		return pair, cert, key, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return keyPair{}, nil, nil, fmt.Errorf("%w; remove %s to have new certificates made", err, dir)
	}
	self := issuer{dir: dir, now: now}
	pair, err = self.issue("ca", &x509.Certificate{
		Subject:               pkix.Name{CommonName: "stint-ca"},
		NotAfter:              now.Add(caValidity),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	})
	if err != nil {
		return keyPair{}, nil, nil, err
	}
	_, cert, key, err = readPair(dir, "ca")
	return pair, cert, key, err
}

// issuer signs certificates. If cert is nil, it makes self-signed ones.
type issuer struct {
	dir  string
	cert *x509.Certificate
	key  crypto.Signer
	now  time.Time
}

// load returns the pair in the directory if it is still valid, else a new one.
func (i issuer) load(name string, template *x509.Certificate) (keyPair, error) {
	pair, cert, _, err := readPair(i.dir, name)
	if err == nil && i.isValid(cert, template) {
		return pair, nil
	}
	return i.issue(name, template)
}

func (i issuer) isValid(cert, template *x509.Certificate) bool {
	if !i.now.Add(renewBefore).Before(cert.NotAfter) || cert.CheckSignatureFrom(i.cert) != nil {
		return false
	}
	for _, name := range template.DNSNames {
		if cert.VerifyHostname(name) != nil {
			return false
		}
	}
	for _, ip := range template.IPAddresses {
		if cert.VerifyHostname(ip.String()) != nil {
			return false
		}
	}
	return true
}

func (i issuer) issue(name string, template *x509.Certificate) (keyPair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return keyPair{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return keyPair{}, err
	}
	template.SerialNumber = serial
	// The certificate stays valid if the clock is set back a little.
	template.NotBefore = i.now.Add(-time.Hour)
	parent, signer := i.cert, i.key
	if parent == nil {
		parent, signer = template, key
	} else {
		template.KeyUsage = x509.KeyUsageDigitalSignature
		template.NotAfter = i.now.Add(certValidity)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return keyPair{}, fmt.Errorf("make the certificate %s: %w", name, err)
	}
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return keyPair{}, err
	}
	pair := keyPair{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}
	return pair, writePair(i.dir, name, pair)
}

// newSuffix is the suffix of the new files of a pair. A pair is two files, and a crash may happen between two writes. So
// both files are first written with this suffix and then renamed, the key first, so that the next start sees how far the
// last one came (finishPair).
const newSuffix = ".new"

func writePair(dir, name string, pair keyPair) error {
	key, cert := filepath.Join(dir, name+".key"), filepath.Join(dir, name+".crt")
	if err := datadir.WriteFile(key+newSuffix, pair.Key, 0o600); err != nil {
		return fmt.Errorf("write the key of certificate %s: %w", name, err)
	}
	if err := datadir.WriteFile(cert+newSuffix, pair.Cert, 0o644); err != nil {
		return fmt.Errorf("write certificate %s: %w", name, err)
	}
	if err := os.Rename(key+newSuffix, key); err != nil {
		return fmt.Errorf("write the key of certificate %s: %w", name, err)
	}
	return finishPair(dir, name)
}

// finishPair finishes an interrupted writePair: if the new key has been renamed, it renames the new certificate,
// otherwise it removes both new files.
func finishPair(dir, name string) error {
	key, cert := filepath.Join(dir, name+".key"), filepath.Join(dir, name+".crt")
	if _, err := os.Lstat(cert + newSuffix); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var err error
	if _, unmoved := os.Lstat(key + newSuffix); unmoved == nil {
		err = errors.Join(os.Remove(cert+newSuffix), os.Remove(key+newSuffix))
	} else {
		err = os.Rename(cert+newSuffix, cert)
	}
	if err == nil {
		err = datadir.Sync(dir)
	}
	if err != nil {
		return fmt.Errorf("write certificate %s: %w", name, err)
	}
	return nil
}

func readPair(dir, name string) (keyPair, *x509.Certificate, crypto.Signer, error) {
	fail := func(err error) (keyPair, *x509.Certificate, crypto.Signer, error) {
		return keyPair{}, nil, nil, fmt.Errorf("read certificate %s: %w", name, err)
	}
	var pair keyPair
	err := finishPair(dir, name)
	if err != nil {
		return fail(err)
	}
	if pair.Cert, err = datadir.ReadFile(filepath.Join(dir, name+".crt")); err != nil {
		return fail(err)
	}
	if pair.Key, err = datadir.ReadFile(filepath.Join(dir, name+".key")); err != nil {
		return fail(err)
	}
	parsed, err := tls.X509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		return fail(err)
	}
	signer, ok := parsed.PrivateKey.(crypto.Signer)
	if !ok {
		return fail(fmt.Errorf("its key cannot sign"))
	}
	return pair, parsed.Leaf, signer, nil
}

func loadToken(path string) (string, error) {
	b, err := datadir.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if token := strings.TrimSpace(string(b)); len(token) >= 32 {
		return token, nil
	}
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return "", err
	}
	token := hex.EncodeToString(random)
	if err := datadir.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("write the token: %w", err)
	}
	return token, nil
}
