package kube

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const admin = "admin"

// token is a user's bearer token. Only this machine reaches the cluster, so it need not be secret.
func token(user string) string { return "token-of-" + strings.ReplaceAll(user, ":", "-") }

// writeKeys writes the users' tokens, and the key that signs the tokens of service accounts.
func (c *Cluster) writeKeys() error {
	lines := fmt.Sprintf("%s,%s,%s,system:masters\n", token(admin), admin, admin)
	for _, user := range c.options.Users {
		lines += fmt.Sprintf("%s,%s,%s\n", token(user), user, user)
	}
	if err := os.WriteFile(c.path("tokens"), []byte(lines), 0o600); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(c.path("key"), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

// Kubeconfig writes a kubeconfig for one of Options.Users, or for the administrator if user is empty.
func (c *Cluster) Kubeconfig(user string) (path string, err error) {
	if user == "" {
		user = admin
	}
	config := c.UserConfig(user)
	path = c.path("kubeconfig-" + strings.ReplaceAll(user, ":", "-"))
	out := clientcmdapi.NewConfig()
	out.Clusters["kube"] = &clientcmdapi.Cluster{Server: "https://" + config.Host, CertificateAuthority: config.CAFile}
	out.AuthInfos["user"] = &clientcmdapi.AuthInfo{Token: config.BearerToken}
	out.Contexts["kube"] = &clientcmdapi.Context{Cluster: "kube", AuthInfo: "user"}
	out.CurrentContext = "kube"
	return path, clientcmd.WriteToFile(*out, path)
}
