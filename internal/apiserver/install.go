package apiserver

import (
	"context"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	eventsv1 "k8s.io/api/events/v1"
	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/klog/v2"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"

	"github.com/stint-dev/stint/internal/apiserver/inprocess"
	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

// routes maps each version to its resources and subresources (RESOURCE or RESOURCE/SUBRESOURCE) and their REST handlers.
type routes map[schema.GroupVersion]map[string]rest.Storage

func (r routes) add(gv schema.GroupVersion, path string, storage rest.Storage) {
	if r[gv] == nil {
		r[gv] = map[string]rest.Storage{}
	}
	r[gv][path] = storage
}

func (r routes) addVersions(kind kinds.Resource, subresource string, storage rest.Storage) {
	for _, gv := range kind.Versions() {
		r.add(gv, kind.Plural+subresource, storage)
	}
}

// build makes the storage and the routes of every kind, and the kinds of the in-process client.
func (s *Server) build(resources []kinds.Resource, logs LogSource) (routes, []inprocess.Kind, error) {
	s.admission = &namespaceAdmission{}
	out := routes{}
	var kinds []inprocess.Kind
	for _, r := range resources {
		if r.Version.WithResource(r.Plural).GroupResource() == podsResource {
			r.PrepareForCreate = s.addPullSecrets(r.PrepareForCreate)
		}
		main, err := newObjectREST(s.scheme, s.storages, r)
		if err != nil {
			return nil, nil, err
		}
		s.stores = append(s.stores, main.Store)
		kind := inprocess.Kind{
			Resource: r,
			Store:    main.Store,
			Deleter:  main,
			Storage:  s.storages.made[main.DefaultQualifiedResource],
			Strategy: main.UpdateStrategy,
		}
		out.addVersions(r, "", main)
		if r.Status != nil {
			status := newStatusREST(main)
			out.addVersions(r, "/status", status)
			kind.StatusStrategy = status.strategy
		}
		s.addSpecial(out, main, &kind, logs)
		kinds = append(kinds, kind)
	}
	if s.admission.namespaces == nil {
		return nil, nil, fmt.Errorf("the registry has no namespaces")
	}
	s.keepDefaultServiceAccounts()
	s.cacheServiceAccounts()
	holdRuns(s.stores)
	refuseCycles(s.jobs.Store)
	addJobsV1beta1(out, s.jobs)
	addReviews(out)
	return out, kinds, nil
}

// addSpecial adds the subresources and hooks that only one kind has.
func (s *Server) addSpecial(out routes, main *objectREST, kind *inprocess.Kind, logs LogSource) {
	gv := main.resource.Version
	switch gv.WithResource(main.resource.Plural).GroupResource() {
	case schema.GroupResource{Resource: "namespaces"}:
		s.admission.namespaces = main.Store
		namespaces := newNamespaceREST(main, s.admission, s.deleteEvents)
		out.add(gv, "namespaces", namespaces)
		out.add(gv, "namespaces/finalize", newFinalizeREST(namespaces))
		kind.Deleter = namespaces
		kind.Strategy = finalizeStrategy{main.UpdateStrategy.(strategy)}
	case podsResource:
		s.addPods(out, main, kind, logs)
	case schema.GroupResource{Resource: "nodes"}:
		out.add(metricsv1beta1.SchemeGroupVersion, "nodes", newNodeMetricsREST(main.Store, s.config.Metrics))
	case batchv1.Resource("jobs"):
		s.jobs = main
		out.add(gv, "jobs/why", &whyREST{s})
		out.add(gv, "jobs/results", &jobResultsREST{s})
		out.add(gv, "jobs/log", &jobLogREST{server: s, source: logs})
	case runtimeClassesResource:
		s.classes.store = main.Store
	case storageClassesResource:
		s.storageClasses.store = main.Store
	case claimsResource:
		main.BeginCreate, main.BeginUpdate = s.storageClasses.setDefault, s.storageClasses.admitGrowth
	case serviceAccountsResource:
		s.serviceAccounts = main.Store
	case servicesResource:
		s.services = newServicesREST(main)
		out.add(gv, "services", s.services)
	case discoveryv1.Resource("endpointslices"):
		s.slices = main.Store
	case schema.GroupResource{Resource: "podtemplates"}:
		s.podTemplates = main.Store
	case scheduledJobsResource:
		status := newStatusREST(main)
		out.add(gv, "scheduledjobs/run", &runREST{scheduledJobs: status.store, podTemplates: s.podTemplates})
	case schema.GroupResource{Resource: "events"}:
		s.events = main.Store
		out.add(eventsv1.SchemeGroupVersion, "events", main)
	}
}

// deleteEvents deletes the events of a deleted namespace. The namespace controller does not delete them, and until they
// expire they would show up in a new namespace of the same name.
func (s *Server) deleteEvents(namespace string) {
	ctx := genericapirequest.WithNamespace(s.stopping, namespace)
	_, err := s.events.DeleteCollection(ctx, rest.ValidateAllObjectFunc, &metav1.DeleteOptions{}, &metainternalversion.ListOptions{})
	if err != nil && s.stopping.Err() == nil {
		klog.ErrorS(err, "Failed to delete the events of a deleted namespace", "namespace", namespace)
	}
}

func addReviews(out routes) {
	out.add(authenticationv1.SchemeGroupVersion, "selfsubjectreviews", selfSubjectReview())
	out.add(authorizationv1.SchemeGroupVersion, "selfsubjectaccessreviews", selfSubjectAccessReview())
	out.add(authorizationv1.SchemeGroupVersion, "selfsubjectrulesreviews", selfSubjectRulesReview())
}

// install installs the routes in the library's server, the legacy group first.
func (s *Server) install(all routes) error {
	parameters := runtime.NewParameterCodec(s.scheme)
	groups := map[string]*genericapiserver.APIGroupInfo{}
	var names []string
	for gv, storage := range all {
		info := groups[gv.Group]
		if info == nil {
			made := genericapiserver.NewDefaultAPIGroupInfo(gv.Group, s.scheme, parameters, s.codecs)
			info = &made
			info.PrioritizedVersions = nil
			if !hasProtobuf(s.scheme, gv) {
				info.NegotiatedSerializer = withoutProtobuf{info.NegotiatedSerializer}
			}
			groups[gv.Group] = info
			names = append(names, gv.Group)
		}
		info.PrioritizedVersions = append(info.PrioritizedVersions, gv)
		slices.SortFunc(info.PrioritizedVersions, newestFirst)
		info.VersionedResourcesStorageMap[gv.Version] = storage
	}
	slices.Sort(names)
	var others []*genericapiserver.APIGroupInfo
	for _, name := range names {
		if name == "" {
			if err := s.generic.InstallLegacyAPIGroup(genericapiserver.DefaultLegacyAPIPrefix, groups[name]); err != nil {
				return err
			}
			continue
		}
		others = append(others, groups[name])
	}
	return s.generic.InstallAPIGroups(others...)
}

func newestFirst(a, b schema.GroupVersion) int {
	return version.CompareKubeAwareVersionStrings(b.Version, a.Version)
}

// waitForStorage waits until every kind can be listed from its cache.
func (s *Server) waitForStorage(ctx context.Context) error {
	return poll(ctx, func() bool {
		for _, st := range s.stores {
			if st.ReadinessCheck() != nil {
				return false
			}
		}
		return true
	})
}

// addPods adds what only pods have.
func (s *Server) addPods(out routes, main *objectREST, kind *inprocess.Kind, logs LogSource) {
	gv := main.resource.Version
	main.BeginCreate = s.classes.admit
	binding := &bindingREST{pods: main.Store}
	out.add(gv, "bindings", pluralBindingREST{binding})
	out.add(gv, "pods/binding", binding)
	out.add(gv, "pods/eviction", &evictionREST{pods: main.Store})
	out.add(gv, "pods/ephemeralcontainers", newEphemeralContainersREST(main))
	out.add(gv, "pods/log", &logREST{pods: main.Store, source: logs})
	connecter := podConnecter{pods: main.Store, node: s.config.Pods}
	out.add(gv, "pods/exec", execREST{connecter})
	out.add(gv, "pods/attach", attachREST{connecter})
	out.add(gv, "pods/portforward", portForwardREST{connecter})
	out.add(metricsv1beta1.SchemeGroupVersion, "pods", newPodMetricsREST(main.Store, s.config.Metrics))
	kind.StatusStrategy = podStatusStrategy{kind.StatusStrategy.(statusStrategy)}
}
