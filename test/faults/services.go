package main

const (
	endpointSliceDir  = "internal/controller/endpointslice/"
	endpointSliceTest = "./internal/controller/endpointslice/..."
	serviceTest       = "./internal/apiserver/registry/service"
)

// services are faults in Services and what is behind them.
var services = []fault{
	{
		wrong: "A pod that a Service no longer selects stays behind it.",
		file:  endpointSliceDir + "controller.go",
		old:   "if was != nil && isBehind(svc, was) || is != nil && isBehind(svc, is) {",
		new:   "if is != nil && isBehind(svc, is) {",
		tests: endpointSliceTest,
	},
	{
		wrong: "Slices of a former Service of the same name stay.",
		file:  endpointSliceDir + "plan.go",
		old:   "if svc != nil && hasEndpoints(svc) && metav1.IsControlledBy(s, svc) && s.AddressType == discoveryv1.AddressTypeIPv4 {",
		new:   "if svc != nil && hasEndpoints(svc) && s.AddressType == discoveryv1.AddressTypeIPv4 {",
		tests: endpointSliceTest,
	},
	{
		wrong: "One pod more moves all those that follow it to other slices.",
		file:  endpointSliceDir + "plan.go",
		old:   "kept[s] = append(kept[s], now)",
		new:   "left[now.TargetRef.UID] = now",
		tests: endpointSliceTest,
	},
	{
		wrong: "A pod that is told to end still gets connections.",
		file:  endpointSliceDir + "endpoints.go",
		old:   "svc.Spec.PublishNotReadyAddresses || serving && !terminating",
		new:   "svc.Spec.PublishNotReadyAddresses || serving",
		tests: endpointSliceTest,
	},
	{
		wrong: "A pod that asks for the machine's network gets one of its own.",
		file:  "internal/node/pod_networks.go",
		old:   "!api.Spec.HostNetwork && ",
		new:   "",
		tests: "./internal/server -run ^TestPodsBesideAServiceHaveNetworksAndFindItByName$",
	},
	{
		wrong: "Services that are created at once get the same address.",
		file:  "internal/apiserver/services.go",
		old:   "r.mu.Lock()\n\tdefer r.mu.Unlock()\n\treturn r.objectREST.Create(",
		new:   "return r.objectREST.Create(",
		tests: "./internal/apiserver -run ^TestOneOfManyServicesGetsAnAddressThatAllAskFor$",
	},
	{
		wrong: "After a restart, Services get their addresses from another range.",
		file:  "internal/apiserver/kubernetes_service.go",
		old:   "return addr.Prefix(defaultServiceRange.Bits())",
		new:   "_ = addr\n\treturn defaultServiceRange, nil",
		tests: "./internal/apiserver -run ^TestServicesKeepTheirAddressesOverARestartAndAnUpdate$",
	},
	{
		wrong: "Other machines reach node ports.",
		file:  "internal/node/network/nodeports.go",
		old:   "netip.AddrPortFrom(loopbackAddress, number)",
		new:   "netip.AddrPortFrom(netip.IPv4Unspecified(), number)",
		tests: "./internal/node/network -run ^TestANodePortLeadsToItsService$",
	},
	{
		wrong: "A node port that was taken once stays closed.",
		file:  "internal/node/network/nodeports.go",
		old:   "		n.again.Reset(retryAfter)\n",
		new:   "",
		tests: "./internal/node/network -run ^TestANodePortThatIsTakenIsTriedAgain$",
	},
	{
		wrong: "Pods do not reach the API server by its Service.",
		file:  "internal/node/network/outside.go",
		old:   "if pods.Contains(b.Addr()) && b.Addr() != gateway {",
		new:   "if pods.Contains(b.Addr()) {",
		tests: "./internal/server -run ^TestPodsReachTheAPIServerByItsService$",
	},
	{
		wrong: "A pod gets the variables of Services of all namespaces.",
		file:  "internal/node/services/variables.go",
		old:   "isAPIServer || links && s.Namespace == pod.Namespace",
		new:   "isAPIServer || links",
		tests: "./internal/node/services",
	},
	{
		wrong: "A pod without links to Services has no variables of the API server either.",
		file:  "internal/node/services/variables.go",
		old:   "isAPIServer || links && s.Namespace == pod.Namespace",
		new:   "links && (isAPIServer || s.Namespace == pod.Namespace)",
		tests: "./internal/node/services",
	},
	{
		wrong: "The variables of Services are not in a container's environment.",
		file:  "internal/node/env/env.go",
		old:   "range pod.Services {",
		new:   "range []string{} {",
		tests: "./internal/server -run ^TestPodsBesideAServiceHaveNetworksAndFindItByName$",
	},
	{
		wrong: "The server's certificate does not have the names of the Service kubernetes.",
		file:  "internal/apiserver/config.go",
		old:   "append(s.kubernetesNames(), host)",
		new:   "[]string{host}",
		tests: "./internal/server -run ^TestPodsReachTheAPIServerByItsService$",
	},
	{
		wrong: "The server's certificate does not have the address at which pods reach it.",
		file:  "internal/apiserver/config.go",
		old:   "hosts = append(hosts, s.podsReach.String())",
		new:   "_ = hosts",
		tests: "./internal/server -run ^TestPodsReachTheAPIServerByItsService$",
	},
	{
		wrong: "A certificate of an earlier version stays, without the names of the Service kubernetes.",
		file:  "internal/apiserver/pki.go",
		old:   "if cert.VerifyHostname(name) != nil {",
		new:   `if name == "" {`,
		tests: "./internal/apiserver -run ^TestCertificatesAreKeptUntilTheyAreAboutToEnd$",
	},
	{
		wrong: "A server that reads its Services before its watch cache has does not start.",
		file:  "internal/apiserver/list_all.go",
		old:   "Limit: math.MaxInt32",
		new:   "Limit: 0 * math.MaxInt32",
		tests: "./internal/apiserver -run ^TestAllObjectsAreListedBeforeTheWatchCacheHasReadThem$",
	},
	{
		wrong: "A Service waits for a load balancer for ever.",
		file:  "internal/apiserver/registry/service/validate.go",
		old:   "	case corev1.ServiceTypeLoadBalancer:\n",
		new:   "	case corev1.ServiceTypeLoadBalancer:\n		return nil\n",
		tests: serviceTest,
	},
	{
		wrong: "A Service has external addresses on which nothing listens.",
		file:  "internal/apiserver/registry/service/validate.go",
		old:   "if len(s.ExternalIPs) > 0 {",
		new:   "if false {",
		tests: serviceTest,
	},
	{
		wrong: "A Service has a port of a protocol that nothing forwards.",
		file:  "internal/apiserver/registry/service/validate_ports.go",
		old:   "port.Protocol == corev1.ProtocolSCTP && !IsHeadless(s)",
		new:   "false",
		tests: serviceTest,
	},
	{
		wrong: "A field for load balancers is accepted and has no effect.",
		file:  "internal/apiserver/registry/service/validate.go",
		old:   "if f.set && s.Type",
		new:   "if false && s.Type",
		tests: serviceTest,
	},
	{
		wrong: "A Service may change its address, which clients know.",
		file:  "internal/apiserver/registry/service/validate_update.go",
		old:   "s.ClusterIPs[0] != was.ClusterIPs[0]",
		new:   "false",
		tests: serviceTest,
	},
}
