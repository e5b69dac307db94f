package differential_test

import "strings"

// serviceRange is where both servers take the addresses of Services from.
const serviceRange = "10.96.0.0/16"

// hideAllocated replaces what the servers draw by chance.
func hideAllocated(spec map[string]any) {
	if addr, _ := spec["clusterIP"].(string); strings.HasPrefix(addr, "10.96.") {
		spec["clusterIP"] = "ALLOCATED"
		spec["clusterIPs"].([]any)[0] = "ALLOCATED"
	}
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		if p.(map[string]any)["nodePort"] != nil {
			p.(map[string]any)["nodePort"] = "ALLOCATED"
		}
	}
}

// serviceDifferences are those of Services and EndpointSlices.
var serviceDifferences = []difference{
	{gaps: `code|reason|field spec\.type`, mixed: true, reason: "there are no load balancers",
		cases: []string{"create: a Service: LoadBalancer", "update: a Service: a load balancer"}},
	{gaps: `code|reason|field spec\.externalIPs|warning spec\.externalIPs .*`, reason: "nothing listens on addresses of the machine other than its loopback address",
		cases: []string{"create: a Service: externalIPs"}},
	{gaps: `code|reason|field spec\.clusterIPs`, reason: "Kubernetes does not look in dry runs whether an address is taken",
		cases: []string{"create: a Service: the address of the API server"}},
	{gaps: `code|reason|field spec\.ports\[0\]\.nodePort`, reason: "Kubernetes does not look in dry runs whether a node port is in the range",
		cases: []string{"create: a Service with node ports: a low port", "create: a Service with node ports: a high port", "create: a Service with node ports: a negative port"}},
	{gaps: `code|reason|field spec\.ports\[0\]\.protocol`, reason: "SCTP is not forwarded", cases: []string{"create: ports of a Service: SCTP"}},
	{gaps: `code|reason|field spec\.sessionAffinityConfig\.clientIP\.timeoutSeconds`, reason: "a client stays with a backend for longer",
		cases: []string{"create: a Service: a timeout"}},
	{gaps: `code|reason|field spec\.ports\[1\]\.protocol`, reason: "node ports are for TCP",
		cases: []string{"create: a Service with node ports: a port for two protocols"}},
	{gaps: `type spec\.ports\[1\]\.nodePort`, reason: "Kubernetes calls the port of another port of the same Service invalid, Stint a duplicate",
		cases: []string{"create: a Service with node ports: a port for two"}},
	{gaps: `field spec\.[lL]oadBalancerSourceRanges`, reason: veryField + "it is written otherwise",
		cases: []string{"create: a Service: loadBalancerSourceRanges"}},
	{gaps: `field spec\.(ipFamilyPolicy|ipFamilies\[1\])`, reason: veryField + "with IPv4 alone no policy would help",
		cases: []string{"create: a Service: both families"}},
	{gaps: `field spec\.(clusterIPs|ipFamilies)\[0\]`, mixed: true, reason: veryField + "the family has changed, not the address",
		cases: []string{"update: a Service: another family"}},
	{gaps: `field endpoints\[0\]\.addresses(\[0\])?`, reason: veryField + "it leaves out which address",
		cases: []string{"create: an EndpointSlice: an address of IPv6", "create: an EndpointSlice: IPv6 and an address of IPv4"}},
}
