package pod

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestSchedulingRules(t *testing.T) {
	tolerating := func(tolerations ...corev1.Toleration) []podEdit {
		return podEdits(inSpec(func(s *corev1.PodSpec) { s.Tolerations = tolerations }))
	}
	affine := func(a corev1.Affinity) []podEdit {
		return podEdits(inSpec(func(s *corev1.PodSpec) { s.Affinity = &a }))
	}
	node := func(r corev1.NodeSelectorRequirement) []podEdit {
		return affine(corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{r}}},
		}}})
	}
	const must = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
	runPodCases(t, map[string]podCase{
		"a node is chosen by labels":         {podEdits(inSpec(func(s *corev1.PodSpec) { s.NodeSelector = map[string]string{"a b": "c"} })), []string{"spec.nodeSelector Invalid"}},
		"all taints are tolerated by Exists": {tolerating(corev1.Toleration{Operator: "Exists"}), nil},
		"a toleration of no key is of all":   {tolerating(corev1.Toleration{Operator: "Equal"}), []string{"spec.tolerations[0].operator Invalid"}},
		"what exists has no value":           {tolerating(corev1.Toleration{Key: "a", Operator: "Exists", Value: "b"}), []string{"spec.tolerations[0].operator Invalid"}},
		"an operator is among the known":     {tolerating(corev1.Toleration{Key: "a", Operator: "Near"}), []string{"spec.tolerations[0].operator NotSupported"}},
		"an effect is among the known":       {tolerating(corev1.Toleration{Key: "a", Effect: "Some"}), []string{"spec.tolerations[0].effect NotSupported"}},
		"only eviction takes time":           {tolerating(corev1.Toleration{Key: "a", Effect: "NoSchedule", TolerationSeconds: ptr.To[int64](1)}), []string{"spec.tolerations[0].effect Invalid"}},
		"a value is a label's":               {tolerating(corev1.Toleration{Key: "a", Value: "b c"}), []string{"spec.tolerations[0].operator Invalid"}},
		"In needs values":                    {node(corev1.NodeSelectorRequirement{Key: "a", Operator: "In"}), []string{must + "[0].matchExpressions[0].values Required"}},
		"Exists has none":                    {node(corev1.NodeSelectorRequirement{Key: "a", Operator: "Exists", Values: []string{"b"}}), []string{must + "[0].matchExpressions[0].values Forbidden"}},
		"Gt has one":                         {node(corev1.NodeSelectorRequirement{Key: "a", Operator: "Gt"}), []string{must + "[0].matchExpressions[0].values Required"}},
		"a comparison is one of six":         {node(corev1.NodeSelectorRequirement{Key: "a", Operator: "Like"}), []string{must + "[0].matchExpressions[0].operator Invalid"}},
		"what is required is something":      {affine(corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{}}}), []string{must + " Required"}},
		"a preference weighs up to 100":      {affine(corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 101}}}}), []string{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight Invalid"}},
		"a node is chosen by name only beside labels": {affine(corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{{Weight: 1, Preference: corev1.NodeSelectorTerm{
				MatchFields: []corev1.NodeSelectorRequirement{{Key: "spec.unschedulable", Operator: "In", Values: []string{"true"}}},
			}}},
		}}), []string{"spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchFields[0].key Invalid"}},
		"pods are near others that are selected": {affine(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
			TopologyKey: "zone", Namespaces: []string{""}, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a b": "c"}},
		}}}}), []string{
			"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels Invalid",
			"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].namespaces[0] Invalid",
		}},
		"pods are near in some respect":       {affine(corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{}}}}), []string{"spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey Invalid", "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey Invalid", "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey Required"}},
		"pods are apart to some degree":       {affine(corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []corev1.WeightedPodAffinityTerm{{PodAffinityTerm: corev1.PodAffinityTerm{TopologyKey: "zone"}}}}}), []string{"spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight Invalid"}},
		"a condition for readiness is a name": {podEdits(inSpec(func(s *corev1.PodSpec) { s.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "a b"}} })), []string{"spec.readinessGates[0].conditionType Invalid"}},
		"spreading is over something, by some number, once": {podEdits(inSpec(func(s *corev1.PodSpec) {
			zone := corev1.TopologySpreadConstraint{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: "DoNotSchedule"}
			s.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{zone, zone, {MinDomains: ptr.To[int32](0)}}
		})), []string{"spec.topologySpreadConstraints[0] Duplicate", "spec.topologySpreadConstraints[2].maxSkew Invalid", "spec.topologySpreadConstraints[2].minDomains Invalid", "spec.topologySpreadConstraints[2].minDomains Invalid",
			"spec.topologySpreadConstraints[2].topologyKey Required", "spec.topologySpreadConstraints[2].whenUnsatisfiable NotSupported"}},
	})
}

func TestNetworkRules(t *testing.T) {
	runPodCases(t, map[string]podCase{
		"a host name is a label": {podEdits(inSpec(func(s *corev1.PodSpec) { s.Hostname, s.Subdomain = "a.b", "A" })),
			[]string{"spec.hostname Invalid", "spec.subdomain Invalid"}},
		"a name that overrides all others is short and alone": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.HostnameOverride, s.SetHostnameAsFQDN, s.HostNetwork = ptr.To(strings.Repeat("a", 65)), ptr.To(true), true
		})), []string{"spec.hostnameOverride Forbidden", "spec.hostnameOverride Forbidden", "spec.hostnameOverride TooLong"}},
		"an alias is an address and names": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.HostAliases = []corev1.HostAlias{{IP: "1.2.3", Hostnames: []string{"A_"}}}
		})), []string{"spec.hostAliases[0].hostnames[0] Invalid", "spec.hostAliases[0].ip Invalid"}},
		"a way to find names is among the known": {podEdits(inSpec(func(s *corev1.PodSpec) { s.DNSPolicy = "Ask" })), []string{"spec.dnsPolicy NotSupported"}},
		"no way to find names needs another":     {podEdits(inSpec(func(s *corev1.PodSpec) { s.DNSPolicy = corev1.DNSNone })), []string{"spec.dnsConfig Required"}},
		"there are up to three name servers": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.DNSConfig = &corev1.PodDNSConfig{Nameservers: registrytest.Times(4, "1.1.1.1"), Searches: registrytest.Times(33, "a"), Options: []corev1.PodDNSConfigOption{{}}}
		})), []string{"spec.dnsConfig.nameservers Invalid", "spec.dnsConfig.options[0] Required", "spec.dnsConfig.searches Invalid"}},
		"a domain to search may be the root, have underscores, and end in a dot": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.DNSConfig = &corev1.PodDNSConfig{Searches: []string{".", "a_b.c."}}
		})), nil},
		"a domain to search is one": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.DNSConfig = &corev1.PodDNSConfig{Searches: []string{"a b"}}
		})), []string{"spec.dnsConfig.searches[0] Invalid"}},
		"an address is one that all read alike": {podEdits(inSpec(func(s *corev1.PodSpec) {
			s.DNSConfig = &corev1.PodDNSConfig{Nameservers: []string{"1.2.3.04"}}
		})), []string{"spec.dnsConfig.nameservers[0] Invalid"}},
	})
}
