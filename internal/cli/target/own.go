package target

import (
	"fmt"
	"path/filepath"

	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/stint-dev/stint/internal/datadir"
)

func ownKubeconfig(dataDir string) string { return filepath.Join(dataDir, datadir.Kubeconfig) }

// ownConfig reads the kubeconfig of a data directory, and accepts only what a server writes. A kubeconfig could name programs to
// run and files to read, and another user may have written the data directory.
func ownConfig(dataDir string) (*rest.Config, error) {
	path := ownKubeconfig(dataDir)
	text, err := datadir.ReadFile(path)
	if err != nil {
		return nil, err
	}
	config, err := clientcmd.Load(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	current := config.Contexts[config.CurrentContext]
	if current == nil {
		return nil, notOurs(path)
	}
	cluster, user := config.Clusters[current.Cluster], config.AuthInfos[current.AuthInfo]
	if cluster == nil || user == nil || !isWritten(*cluster, *user) {
		return nil, notOurs(path)
	}
	return &rest.Config{
		Host:        cluster.Server,
		BearerToken: user.Token,
		TLSClientConfig: rest.TLSClientConfig{
			CAData: cluster.CertificateAuthorityData, CertData: user.ClientCertificateData, KeyData: user.ClientKeyData,
		},
	}, nil
}

// isWritten reports whether exactly the fields that a server writes are set.
func isWritten(cluster clientcmdapi.Cluster, user clientcmdapi.AuthInfo) bool {
	whole := cluster.Server != "" && len(cluster.CertificateAuthorityData) > 0 && user.Token != ""
	plain := clientcmdapi.Cluster{Server: cluster.Server, CertificateAuthorityData: cluster.CertificateAuthorityData}
	own := clientcmdapi.AuthInfo{ClientCertificateData: user.ClientCertificateData, ClientKeyData: user.ClientKeyData, Token: user.Token}
	cluster.Extensions, user.Extensions = nil, nil
	cluster.LocationOfOrigin, user.LocationOfOrigin = "", ""
	return whole && apiequality.Semantic.DeepEqual(cluster, plain) && apiequality.Semantic.DeepEqual(user, own)
}

func notOurs(path string) error {
	return fmt.Errorf("%s was not written by a Stint server: remove it, and the next server writes a new one", path)
}
