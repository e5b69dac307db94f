package apiserver

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stint-dev/stint/internal/apiserver/registry"
)

// fillGaps adds plain descriptions of the kinds that the registry does not list yet. It goes when the registry is whole.
func fillGaps(o registry.Options, have []registry.Resource) []registry.Resource {
	known := map[string]bool{}
	for _, r := range have {
		known[r.Plural] = true
	}
	core := corev1.SchemeGroupVersion
	namespace := gap(core, "Namespace", "namespaces", "namespace", func() runtime.Object { return &corev1.Namespace{} }, func() runtime.Object { return &corev1.NamespaceList{} })
	namespace.ClusterScoped = true
	namespace.Status = &registry.StatusStrategy{}
	namespace.PrepareForCreate = func(_ context.Context, obj runtime.Object) {
		ns := obj.(*corev1.Namespace)
		ns.Status.Phase = corev1.NamespaceActive
		ns.Spec.Finalizers = []corev1.FinalizerName{corev1.FinalizerKubernetes}
	}
	node := gap(core, "Node", "nodes", "node", func() runtime.Object { return &corev1.Node{} }, func() runtime.Object { return &corev1.NodeList{} })
	node.ClusterScoped = true
	node.Status = &registry.StatusStrategy{}
	event := gap(core, "Event", "events", "event", func() runtime.Object { return &corev1.Event{} }, func() runtime.Object { return &corev1.EventList{} })
	event.TTL = 3600e9
	event.SelectableFieldNames = []string{"reason", "type", "involvedObject.name", "involvedObject.kind", "involvedObject.uid", "involvedObject.namespace"}
	event.SelectableFields = func(obj runtime.Object) fields.Set {
		e := obj.(*corev1.Event)
		return fields.Set{"reason": e.Reason, "type": e.Type, "involvedObject.name": e.InvolvedObject.Name,
			"involvedObject.kind": e.InvolvedObject.Kind, "involvedObject.uid": string(e.InvolvedObject.UID), "involvedObject.namespace": e.InvolvedObject.Namespace}
	}
	all := []registry.Resource{namespace, node, event,
		gap(core, "ConfigMap", "configmaps", "configmap", func() runtime.Object { return &corev1.ConfigMap{} }, func() runtime.Object { return &corev1.ConfigMapList{} }),
		gap(core, "Secret", "secrets", "secret", func() runtime.Object { return &corev1.Secret{} }, func() runtime.Object { return &corev1.SecretList{} }),
		gap(core, "ServiceAccount", "serviceaccounts", "serviceaccount", func() runtime.Object { return &corev1.ServiceAccount{} }, func() runtime.Object { return &corev1.ServiceAccountList{} }),
		gap(coordinationv1.SchemeGroupVersion, "Lease", "leases", "lease", func() runtime.Object { return &coordinationv1.Lease{} }, func() runtime.Object { return &coordinationv1.LeaseList{} }),
	}
	if !known["jobs"] {
		all = append(all, registry.Job(o), registry.CronJob(o))
	}
	for _, r := range all {
		if !known[r.Plural] {
			have = append(have, r)
		}
	}
	return have
}

func gap(gv schema.GroupVersion, kind, plural, singular string, one, list func() runtime.Object) registry.Resource {
	return registry.Resource{Version: gv, Kind: kind, Plural: plural, Singular: singular, New: one, NewList: list}
}
