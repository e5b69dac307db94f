package verbs

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/stint-dev/stint/internal/cli/target"
)

// Connection connects to the server when a command first needs it: --help does not.
type Connection struct {
	// Find connects; it is called once.
	Find func(context.Context) (*target.Target, error)
	// Where returns the options of Find.
	Where func() (target.Options, error)
	// Warn prints the server's warnings.
	Warn rest.WarningHandler
	// NamespaceGiven reports whether the user gave -n, so that objects of other namespaces are refused.
	NamespaceGiven func() bool

	lifeOnce sync.Once
	life     context.Context
	end      context.CancelFunc

	mu     sync.Mutex
	asked  bool
	target *target.Target
	err    error

	discoverOnce sync.Once
	discovered   discovery.CachedDiscoveryInterface
	discoverErr  error
}

var _ genericclioptions.RESTClientGetter = &Connection{}

// context returns a context that Close cancels, and with it a running Find.
func (c *Connection) context() context.Context {
	c.lifeOnce.Do(func() { c.life, c.end = context.WithCancel(context.Background()) })
	return c.life
}

func (c *Connection) connect() (*target.Target, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		c.asked = true
		c.target, c.err = c.Find(c.context())
	}
	return c.target, c.err
}

// Inside returns the configuration for the server in this process; nil if there is none.
func (c *Connection) Inside() *rest.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.target == nil || c.target.Kind != target.Embedded {
		return nil
	}
	return rest.CopyConfig(c.target.Config)
}

// Kind returns the kind of the server, once connected.
func (c *Connection) Kind() target.Kind {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.target == nil {
		return target.Cluster
	}
	return c.target.Kind
}

// Caller returns the target's caller, once connected.
func (c *Connection) Caller() target.Caller {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.target == nil {
		return target.Caller{}
	}
	return c.target.Caller
}

// Close stops a server in this process. The connection cannot be used afterwards.
func (c *Connection) Close() error {
	c.context()
	c.end()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked {
		c.asked, c.err = true, context.Canceled
	}
	if c.target == nil {
		return nil
	}
	return c.target.Close()
}

// ToRESTConfig implements RESTClientGetter.
func (c *Connection) ToRESTConfig() (*rest.Config, error) {
	t, err := c.connect()
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(t.Config)
	config.WarningHandler = c.Warn
	if t.Kind != target.Cluster {
		config.QPS = -1
	}
	return config, nil
}

// ToDiscoveryClient implements RESTClientGetter. The client caches responses, as commands repeat requests.
func (c *Connection) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	c.discoverOnce.Do(func() {
		config, err := c.ToRESTConfig()
		if err != nil {
			c.discoverErr = err
			return
		}
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			c.discoverErr = err
			return
		}
		c.discovered = memory.NewMemCacheClient(client)
	})
	return c.discovered, c.discoverErr
}

// ToRESTMapper implements RESTClientGetter.
func (c *Connection) ToRESTMapper() (meta.RESTMapper, error) {
	client, err := c.ToDiscoveryClient()
	if err != nil {
		return nil, err
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(client)
	return restmapper.NewShortcutExpander(mapper, client, func(text string) {
		c.Warn.HandleWarningHeader(299, "", text)
	}), nil
}

// ToRawKubeConfigLoader implements RESTClientGetter.
func (c *Connection) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	return &loader{c}
}

// loader is a clientcmd.ClientConfig for a server that may have no kubeconfig.
type loader struct{ *Connection }

func (l *loader) ClientConfig() (*rest.Config, error) { return l.ToRESTConfig() }

func (l *loader) Namespace() (string, bool, error) {
	t, err := l.connect()
	if err != nil {
		return "", false, err
	}
	return t.Namespace, l.NamespaceGiven(), nil
}

func (l *loader) RawConfig() (clientcmdapi.Config, error) {
	t, err := l.connect()
	if err != nil {
		return clientcmdapi.Config{}, err
	}
	config := clientcmdapi.NewConfig()
	config.CurrentContext = "stint"
	config.Clusters["stint"] = &clientcmdapi.Cluster{Server: t.Config.Host}
	config.Contexts["stint"] = &clientcmdapi.Context{Cluster: "stint", Namespace: t.Namespace}
	return *config, nil
}

func (l *loader) ConfigAccess() clientcmd.ConfigAccess { return clientcmd.NewDefaultPathOptions() }
