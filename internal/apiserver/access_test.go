package apiserver_test

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func TestOnlyTheKubeconfigsCredentialsComeIn(t *testing.T) {
	r := start(t)
	only := func(keep func(from, to *rest.Config)) *rest.Config {
		c := &rest.Config{Host: r.http.Host, TLSClientConfig: rest.TLSClientConfig{CAData: r.http.CAData}}
		keep(r.http, c)
		return c
	}
	cases := map[string]struct {
		config *rest.Config
		refuse bool
	}{
		"the certificate alone": {config: only(func(from, to *rest.Config) { to.CertData, to.KeyData = from.CertData, from.KeyData })},
		"the token alone":       {config: only(func(from, to *rest.Config) { to.BearerToken = from.BearerToken })},
		"nothing":               {config: only(func(_, _ *rest.Config) {}), refuse: true},
		"a wrong token":         {config: only(func(_, to *rest.Config) { to.BearerToken = "wrong" }), refuse: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := kubernetes.NewForConfigOrDie(c.config).CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{})
			if c.refuse != apierrors.IsUnauthorized(err) || (!c.refuse && err != nil) {
				t.Errorf("error %v, want refused %v", err, c.refuse)
			}
		})
	}
}

func TestSecretsOnDiskAreForTheirOwnerAlone(t *testing.T) {
	r := start(t)
	for _, file := range []string{"kubeconfig", "pki/token", "pki/ca.key", "pki/server.key", "pki/admin.key"} {
		info, err := os.Stat(filepath.Join(r.dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %o", file, info.Mode().Perm())
		}
	}
}

func TestTheServerIsKnownByItsLoopbackNames(t *testing.T) {
	r := start(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(r.http.CAData)
	for _, name := range []string{"127.0.0.1", "::1", "localhost"} {
		conn, err := tls.Dial("tcp", r.http.Host[len("https://"):], &tls.Config{RootCAs: pool, ServerName: name})
		if err != nil {
			t.Errorf("as %s: %v", name, err)
			continue
		}
		_ = conn.Close()
	}
	if _, err := http.Get(r.http.Host + "/healthz"); err == nil {
		t.Error("a client that does not know the CA trusts the server")
	}
}

func TestAKubeconfigGoesOnWorkingOverARestart(t *testing.T) {
	dir := t.TempDir()
	first := startIn(t, dir, nil)
	before := rest.CopyConfig(first.http)
	first.stop()
	second := startIn(t, dir, nil)
	if diff := cmp.Diff(before.TLSClientConfig, second.http.TLSClientConfig); diff != "" {
		t.Errorf("TLS (-before +after):\n%s", diff)
	}
	if before.BearerToken != second.http.BearerToken {
		t.Error("the token changed")
	}
}

func TestReviewsReturnTheUserAndAllowEverything(t *testing.T) {
	r := start(t)
	c := r.clientset(t)
	who, err := c.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if who.Status.UserInfo.Username != "stint-admin" {
		t.Errorf("user %q", who.Status.UserInfo.Username)
	}
	may, err := c.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "create", Resource: "pods"}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !may.Status.Allowed {
		t.Error("it may not")
	}
}
