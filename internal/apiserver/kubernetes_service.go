package apiserver

import (
	"context"
	"net"
	"net/netip"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/service"
)

const (
	// kubernetesService is the Service by which pods find the API server, in the namespace default.
	kubernetesService = "kubernetes"
	httpsPort         = 443
)

// defaultServiceRange has the addresses of Services where nothing speaks against it.
var defaultServiceRange = netip.MustParsePrefix("10.96.0.0/16")

// keepKubernetesService keeps the Service, and takes the range of addresses from it: it has the first one. So the range outlives
// the server, and Services keep their addresses.
func (s *Server) keepKubernetesService() error {
	if err := s.services.countStored(s.stopping); err != nil {
		return err
	}
	s.recreateKubernetesService()
	existing, err := s.services.Get(inDefault(s.stopping), kubernetesService, &metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		s.services.addresses = s.chooseServiceRange()
		return s.createKubernetesService()
	}
	if err != nil {
		return err
	}
	return s.repairKubernetesService(existing.(*corev1.Service))
}

func (s *Server) chooseServiceRange() netip.Prefix {
	if s.config.ServiceRange == nil {
		return defaultServiceRange
	}
	return s.config.ServiceRange()
}

// repairKubernetesService writes the port where this server listens. A Service whose address a user has taken away is made anew.
func (s *Server) repairKubernetesService(svc *corev1.Service) (err error) {
	if s.services.addresses, err = rangeOf(svc); err != nil {
		s.services.addresses = s.chooseServiceRange()
		_, _, err = s.services.Delete(inDefault(s.stopping), svc.Name, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{})
		return err
	}
	if apiequality.Semantic.DeepEqual(svc.Spec.Ports, s.kubernetesPorts()) {
		return nil
	}
	svc = svc.DeepCopy()
	svc.Spec.Ports = s.kubernetesPorts()
	_, _, err = s.services.Update(inDefault(s.stopping), svc.Name, rest.DefaultUpdatedObjectInfo(svc), nil, nil, false, &metav1.UpdateOptions{})
	return err
}

// recreateKubernetesService creates the Service again whenever it is deleted.
func (s *Server) recreateKubernetesService() {
	s.services.AfterDelete = func(obj runtime.Object, options *metav1.DeleteOptions) {
		svc := obj.(*corev1.Service)
		if len(options.DryRun) > 0 {
			return
		}
		s.services.count(svc, -1)
		if !isKubernetesService(svc) {
			return
		}
		if err := s.createKubernetesService(); err != nil && s.stopping.Err() == nil {
			klog.ErrorS(err, "Failed to create the Service kubernetes")
		}
	}
}

func isKubernetesService(svc *corev1.Service) bool {
	return svc.Name == kubernetesService && svc.Namespace == metav1.NamespaceDefault
}

// rangeOf returns the range whose first address a Service has.
func rangeOf(svc *corev1.Service) (netip.Prefix, error) {
	addr, err := netip.ParseAddr(svc.Spec.ClusterIP)
	if err != nil {
		return netip.Prefix{}, err
	}
	return addr.Prefix(defaultServiceRange.Bits())
}

func (s *Server) createKubernetesService() error {
	svc := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Name: kubernetesService, Namespace: metav1.NamespaceDefault, Labels: map[string]string{"component": "apiserver", "provider": "kubernetes"},
		},
		Spec: corev1.ServiceSpec{
			ClusterIP: service.FirstAddress(s.services.addresses).String(),
			Ports:     s.kubernetesPorts(),
		},
	}
	s.scheme.Default(svc)
	_, err := s.services.Store.Create(inDefault(s.stopping), svc, nil, &metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func (s *Server) kubernetesPorts() []corev1.ServicePort {
	return []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: httpsPort, TargetPort: intstr.FromInt32(s.port())}}
}

func inDefault(ctx context.Context) context.Context {
	return genericapirequest.WithNamespace(ctx, metav1.NamespaceDefault)
}

// port is where the server listens; where it does not, the port of the Service.
func (s *Server) port() int32 {
	if s.config.Listener == nil {
		return httpsPort
	}
	_, text, _ := net.SplitHostPort(s.config.Listener.Addr().String())
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return httpsPort
	}
	return int32(port)
}

// kubernetesNames are the names and the address of the Service.
func (s *Server) kubernetesNames() []string {
	const short = kubernetesService + "." + metav1.NamespaceDefault
	return []string{
		kubernetesService, short, short + ".svc", short + ".svc.cluster.local", service.FirstAddress(s.services.addresses).String(),
	}
}

// PublishAddress writes where pods reach this server into the EndpointSlice of the Service kubernetes. An address that is not
// valid is for a server that they cannot reach. Before Run, it is an address of the server's certificate too.
func (s *Server) PublishAddress(ctx context.Context, address netip.Addr) error {
	s.podsReach = address
	want := s.kubernetesSlice(address)
	s.scheme.Default(want)
	ctx = inDefault(ctx)
	_, err := s.slices.Create(ctx, want.DeepCopy(), nil, &metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, _, err = s.slices.Update(ctx, kubernetesService, rest.DefaultUpdatedObjectInfo(nil, func(_ context.Context, _, stored runtime.Object) (runtime.Object, error) {
		slice := stored.DeepCopyObject().(*discoveryv1.EndpointSlice)
		if !apiequality.Semantic.DeepEqual(slice.Endpoints, want.Endpoints) || !apiequality.Semantic.DeepEqual(slice.Ports, want.Ports) {
			slice.Endpoints, slice.Ports = want.Endpoints, want.Ports
		}
		return slice, nil
	}), nil, nil, false, &metav1.UpdateOptions{})
	return err
}

func (s *Server) kubernetesSlice(address netip.Addr) *discoveryv1.EndpointSlice {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Name: kubernetesService, Namespace: metav1.NamespaceDefault, Labels: map[string]string{discoveryv1.LabelServiceName: kubernetesService},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Name: ptr.To("https"), Port: ptr.To(s.port())}},
	}
	if address.IsValid() && s.config.Listener != nil {
		slice.Endpoints = []discoveryv1.Endpoint{{
			Addresses: []string{address.String()}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)}}}
	}
	return slice
}
