package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/apiserver"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
	"github.com/stint-dev/stint/internal/endpoint"
	"github.com/stint-dev/stint/internal/events"
	imagestore "github.com/stint-dev/stint/internal/image/store"
	"github.com/stint-dev/stint/internal/localvolume"
	"github.com/stint-dev/stint/internal/memory"
	"github.com/stint-dev/stint/internal/node"
	"github.com/stint-dev/stint/internal/node/network"
	"github.com/stint-dev/stint/internal/node/podlogs"
	"github.com/stint-dev/stint/internal/node/process"
	"github.com/stint-dev/stint/internal/store"
)

// components are the parts of a server, in the order in which they are opened. close closes them in reverse.
type components struct {
	memory   memory.Limit
	store    *store.Store
	listener net.Listener
	// host is nil on a server without a node.
	host     *host
	api      *apiserver.Server
	node     lateNode
	events   *events.Writer
	services []service
	ready    chan struct{}
}

// service is a part that runs as long as the server. Run returns when ctx ends; an error stops the server.
type service interface {
	Run(ctx context.Context) error
}

func (p *components) open(ctx context.Context, o Options) (err error) {
	p.ready = make(chan struct{})
	if o.Node && !o.ReadOnly {
		removeLeftImages(ctx, o.ImageDir)
	}
	if p.store, err = store.Open(ctx, o.DataDir, o.storeOptions()...); err != nil {
		return err
	}
	if o.Listen != "" {
		if p.listener, err = net.Listen("tcp", o.Listen); err != nil {
			return fmt.Errorf("listen on %s (choose another address with --listen): %w", o.Listen, err)
		}
	}
	if o.MetricsListen != "" {
		e, err := endpoint.New(endpoint.Config{Address: o.MetricsListen, Ready: p.isReady, Version: o.Version, More: prometheus.Gatherers{store.Sizes}})
		if err != nil {
			return err
		}
		p.services = append(p.services, e)
	}
	if o.Node && !o.ReadOnly {
		p.host = startHost(ctx, process.Config{
			Dir: o.DataDir, Executable: o.Executable, StartTimeout: o.StartTimeout, PodMaxPIDs: o.PodMaxPIDs, KeepSessionKeyring: o.KeepSessionKeyring,
		})
	}
	logs := &podLogs{}
	logs.source.Store(podlogs.Stored(o.DataDir))
	if err := p.openAPI(o, logs); err != nil {
		return err
	}
	return p.openServices(o, logs)
}

func (o Options) storeOptions() []store.Option {
	options := []store.Option{store.Quota(o.StoreQuota)}
	if o.ReadOnly {
		options = append(options, store.ReadOnly)
	}
	return options
}

func (p *components) isReady() error {
	select {
	case <-p.ready:
		return p.store.Ready()
	default:
		return errors.New("starting")
	}
}

func (p *components) openAPI(o Options, logs apiserver.LogSource) (err error) {
	config := apiserver.Config{DataDir: o.DataDir, Store: p.store, Listener: p.listener, Logs: logs, Jobs: o.jobOptions(),
		MemoryExceeded: p.memory.Exceeded}
	if p.host != nil {
		config.ServiceRange = func() netip.Prefix { return network.ChooseForServices(network.OfMachine()) }
		config.Pods, config.Metrics = p.node.pods, p.node.metrics
		config.Registry = podregistry.Options{Node: p.host.info, IsRunByNode: p.node.runs, RuntimeClass: o.RuntimeClass,
			PodMaxPIDs: cmp.Or(o.PodMaxPIDs, process.DefaultPodMaxPIDs), LocalStorageClasses: o.LocalStorageClasses}
	}
	p.api, err = apiserver.New(config)
	return err
}

// openServices creates the controllers and the node. When it returns, their event handlers are registered.
func (p *components) openServices(o Options, logs *podLogs) error {
	if o.ReadOnly {
		return nil
	}
	if err := p.publish(); err != nil {
		return err
	}
	c := p.api.Client()
	p.events = events.NewWriter(c.Events(), events.Scheme)
	p.events.DrainTime = cmp.Or(o.EventDrainTime, p.events.DrainTime)
	if p.host == nil {
		p.services = append(p.services, controllers(c, p.events, nil, o)...)
		return nil
	}
	containers, err := p.host.wait()
	if err != nil {
		return err
	}
	volumes := localvolume.Of(o.DataDir, containers.RemoveVolume)
	n, err := openNode(p.api, containers, volumes, p.events, o)
	if err != nil {
		return err
	}
	logs.source.Store(n.Logs)
	p.node.Store(n)
	p.services = append(append(p.services, controllers(c, p.events, localVolumes{volumes, n.Name()}, o)...), n)
	return nil
}

// publish writes where pods reach this server. Pods without a network of their own share that of the machine, and find the server
// by the kubeconfig.
func (p *components) publish() error {
	var address netip.Addr
	if p.host != nil && p.listener != nil {
		address = addressForPods(p.listener.Addr(), p.host.info().PodRange)
	}
	return p.api.PublishAddress(context.Background(), address)
}

// addressForPods is where pods with a network reach a listener: at their gateway, if it listens on the machine's IPv4 loopback
// address. It is not valid if they do not reach it.
func addressForPods(listener net.Addr, pods netip.Prefix) netip.Addr {
	at, err := netip.ParseAddrPort(listener.String())
	if err != nil || !pods.IsValid() {
		return netip.Addr{}
	}
	switch addr := at.Addr().Unmap(); {
	case addr == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || addr.IsUnspecified():
		return network.Gateway(pods)
	case addr.Is4() && !addr.IsLoopback():
		return addr
	default:
		return netip.Addr{}
	}
}

// localVolumes are the volumes that are provisioned on the machine of a node.
type localVolumes struct {
	localvolume.Dir
	node string
}

// NodeName implements persistentvolume.Provisioner.
func (l localVolumes) NodeName() string { return l.node }

func openNode(api *apiserver.Server, containers *process.Runtime, volumes localvolume.Dir, w *events.Writer, o Options) (*node.Node, error) {
	images, whyNoImages := openImages(o.ImageDir)
	return node.New(node.Config{
		Client:      api.Client(),
		Images:      images,
		WhyNoImages: whyNoImages,
		ImageGC:     o.ImageGC,
		Runtime:     containers,
		Dir:         o.DataDir,
		Allocatable: o.Allocatable,
		Recorder:    w.Recorder("kubelet"),
		Version:     o.Version,
		Cordoned:    o.Cordoned,
		KeepLogs:    o.KeepLogs,
		Volumes:     volumes,
		HasServices: api.HasServices, ServiceRange: api.ServiceRange(),
	})
}

// openImages opens the image store, or returns why it is not available.
func openImages(dir string) (images *imagestore.Store, why string) {
	var err error
	if dir == "" {
		if dir, err = imagestore.DefaultDir(); err != nil {
			return nil, err.Error()
		}
	}
	if images, err = imagestore.Open(dir); err != nil {
		return nil, err.Error()
	}
	return images, ""
}

// removeLeftImages makes room for the store of a server if an interrupted pull has filled the disk: images often are on the same one.
// If that fails, the store says what is full.
func removeLeftImages(ctx context.Context, dir string) {
	if images, _ := openImages(dir); images != nil {
		_ = images.MakeRoom(ctx)
	}
}

// run runs all parts until ctx ends or one of them fails. The API server stops last, as the others write until they stop.
func (p *components) run(ctx context.Context, stop context.CancelCauseFunc) error {
	serving, stopServing := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() {
		err := p.api.Run(serving)
		stop(err)
		served <- err
	}()
	err := p.runServices(ctx, stop)
	if p.events != nil {
		p.events.Close()
	}
	stopServing()
	return errors.Join(err, <-served)
}

func (p *components) runServices(ctx context.Context, stop context.CancelCauseFunc) error {
	if !p.started(ctx) {
		return nil
	}
	ended := make(chan error, len(p.services))
	for _, s := range p.services {
		go func() {
			err := s.Run(ctx)
			stop(err)
			ended <- err
		}()
	}
	close(p.ready)
	<-ctx.Done()
	var errs []error
	for range p.services {
		errs = append(errs, <-ended)
	}
	return errors.Join(errs...)
}

// started waits until the API server answers and the informers have synced.
func (p *components) started(ctx context.Context) bool {
	select {
	case <-p.api.Ready():
	case <-ctx.Done():
		return false
	}
	return p.api.StartInformers(ctx) == nil
}

// abandon closes the parts that were opened, after a failed start.
func (p *components) abandon() error {
	if p.api == nil {
		return p.close()
	}
	if p.events != nil {
		p.events.Close()
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	return errors.Join(p.api.Run(over), p.close())
}

func (p *components) close() error {
	var errs []error
	if p.host != nil {
		errs = append(errs, p.host.close())
	}
	if p.listener != nil {
		// The API server has closed it, if it ran.
		_ = p.listener.Close()
	}
	if p.store != nil {
		errs = append(errs, p.store.Close())
	}
	return errors.Join(errs...)
}

// podLogs is the log source of the API server: at first the files of the data directory, then the node, which also has the
// latest logs of running pods. The node is created later, as it needs the API server's client.
type podLogs struct{ source atomic.Pointer[podlogs.Store] }

func (l *podLogs) PodLogs(ctx context.Context, pod *corev1.Pod, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	return l.source.Load().PodLogs(ctx, pod, opts)
}

func (l *podLogs) AttemptLogs(ctx context.Context, namespace string, of *stintv1.PodResult, attempt int32, opts *corev1.PodLogOptions) (io.ReadCloser, error) {
	return l.source.Load().AttemptLogs(ctx, namespace, of, attempt, opts)
}

func (l *podLogs) Incomplete(namespace string, of *stintv1.PodResult) string {
	return l.source.Load().Incomplete(namespace, of)
}
