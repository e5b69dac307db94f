package apiserver

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	apiopenapi "k8s.io/apiserver/pkg/endpoints/openapi"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/filters"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/rest"

	"github.com/stint-dev/stint/internal/apiserver/openapi"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
	"github.com/stint-dev/stint/internal/connlimit"
)

// memoryHost is the host in the URLs of in-memory clients, which use no socket.
const memoryHost = "stint.internal:443"

func (s *Server) genericConfig(resources []kinds.Resource) (*genericapiserver.Config, error) {
	c := genericapiserver.NewConfig(s.codecs)
	c.EffectiveVersion = newVersion()
	c.ExternalAddress = memoryHost
	c.BuildHandlerChainFunc = s.chain
	c.Authorization.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()
	c.LongRunningFunc = filters.BasicLongRunningRequestCheck(sets.NewString("watch"), sets.NewString("log", "exec", "attach", "portforward"))
	c.MaxRequestsInFlight, c.MaxMutatingRequestsInFlight = 1000, 500
	c.EnableProfiling = false
	c.StorageObjectCountTracker = nil
	c.SkipOpenAPIInstallation = true // serveOpenAPI does it
	c.RESTOptionsGetter = s.storages
	c.AddReadyzChecks(healthz.NamedCheck("watch-caches", func(*http.Request) error { return s.config.Store.Ready() }))

	scheme, err := newOpenAPIScheme(resources)
	if err != nil {
		return nil, err
	}
	setOpenAPI(c, scheme)
	s.loopback = &rest.Config{
		Host:        "https://" + memoryHost,
		BearerToken: uuid.NewString(),
		QPS:         -1,
		Transport:   memoryTransport{handler: http.HandlerFunc(s.serveInMemory)},
	}
	c.LoopbackClientConfig = s.loopback
	return c, s.secure(c)
}

func setOpenAPI(c *genericapiserver.Config, scheme *runtime.Scheme) {
	namer := apiopenapi.NewDefinitionNamer(scheme)
	c.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(openapi.GetOpenAPIDefinitions, namer)
	c.OpenAPIConfig.Info.Title = "Stint"
	c.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(openapi.GetOpenAPIDefinitions, namer)
	c.OpenAPIV3Config.Info.Title = "Stint"
}

// secure sets up TLS and authentication, and writes the kubeconfig. Without a listener only in-memory clients can connect.
func (s *Server) secure(c *genericapiserver.Config) error {
	if s.config.Listener == nil {
		c.Authentication.Authenticator = union.New()
		return nil
	}
	keys, err := loadPKI(filepath.Join(s.config.DataDir, "pki"), time.Now())
	if err != nil {
		return err
	}
	ca, err := dynamiccertificates.NewStaticCAContent("stint", keys.CA)
	if err != nil {
		return fmt.Errorf("read the CA certificate: %w", err)
	}
	c.Authentication.Authenticator = newAuthenticator(ca, keys.Token)
	s.keys = keys
	s.connections = connlimit.Limit(s.config.Listener, connlimit.MaxUnauthenticated())
	c.SecureServing = &genericapiserver.SecureServingInfo{Listener: s.connections, ClientCA: ca}
	c.ExternalAddress = s.config.Listener.Addr().String()
	url, err := serverURL(s.config.Listener.Addr())
	if err != nil {
		return err
	}
	return writeKubeconfig(s.KubeconfigPath(), url, keys)
}

// certify gives the server its certificate. By now the addresses are known that it is to name, besides the one where it listens.
func (s *Server) certify() error {
	if s.config.Listener == nil {
		return nil
	}
	host, _, err := net.SplitHostPort(s.config.Listener.Addr().String())
	if err != nil {
		return fmt.Errorf("listen address %s: %w", s.config.Listener.Addr(), err)
	}
	hosts := append(s.kubernetesNames(), host)
	if s.podsReach.IsValid() {
		hosts = append(hosts, s.podsReach.String())
	}
	pair, err := s.keys.server(hosts...)
	if err != nil {
		return err
	}
	cert, err := dynamiccertificates.NewStaticCertKeyContent("stint", pair.Cert, pair.Key)
	if err != nil {
		return fmt.Errorf("read the server certificate: %w", err)
	}
	s.generic.SecureServingInfo.Cert = cert
	return nil
}
