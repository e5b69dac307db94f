package apiserver

import (
	"fmt"
	"net"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/filesystem"
)

// writeKubeconfig writes the clients' kubeconfig. It has mode 0600, because its credentials allow everything.
func writeKubeconfig(path, server string, p *pki) error {
	const name = "stint"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: p.CA}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: p.Admin.Cert,
		ClientKeyData:         p.Admin.Key,
		Token:                 p.Token,
	}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: "default"}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("make the kubeconfig: %w", err)
	}
	err = datadir.WriteFile(path, content, 0o600)
	if filesystem.IsFull(err) {
		err = datadir.Overwrite(path, content)
	}
	if err != nil {
		return fmt.Errorf("write the kubeconfig: %w", err)
	}
	return nil
}

// serverURL returns the URL of a listener for clients on this machine.
func serverURL(addr net.Addr) (string, error) {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return "", fmt.Errorf("listen address %s: %w", addr, err)
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "https://" + net.JoinHostPort(host, port), nil
}
