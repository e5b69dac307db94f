package main

// networks are faults in the networks of pods.
var networks = []fault{
	{
		wrong: "A pod can send from the address of another one.",
		file:  "internal/node/network/settings.go",
		old:   `"ipv4/conf/all/rp_filter":        "1"`,
		new:   `"ipv4/conf/all/rp_filter":        "0"`,
		tests: "./internal/node/network -run ^TestAPodCannotPretendToBeAnother$",
	},
	{
		wrong: "Two pods have the same address.",
		file:  "internal/node/network/pool.go",
		old:   "if p.pods.Contains(addr) && !p.used[addr] && !p.of[pod].IsValid() {",
		new:   "if p.pods.Contains(addr) && !p.of[pod].IsValid() {",
		tests: "./internal/node/network -run ^TestNoTwoPodsHaveAnAddress$",
	},
	{
		wrong: "A pod that a Service leads to itself is not answered.",
		file:  "internal/node/network/rules.go",
		old:   "	r.rule(postrouting, r.isSelf(), exprs{&expr.Masq{}})\n",
		new:   "	_ = postrouting\n",
		tests: "./internal/node/network -run ^TestAServiceLeadsToItsBackends$",
	},
	{
		wrong: "A Service without backends refuses only so many connections a second.",
		file:  "internal/node/network/rules.go",
		old:   "exprs{&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}}",
		new:   "exprs{&expr.Reject{Type: unix.NFT_REJECT_ICMP_UNREACH, Code: portUnreachable}}",
		tests: "./internal/node/network -run ^TestAServiceLeadsToItsBackends$",
	},
	{
		wrong: "A probe of a pod with a network of its own asks the machine.",
		file:  "internal/node/prober/dial.go",
		old:   "err == nil && d.Networks.Contains(to.Addr())",
		new:   "err == nil && !to.IsValid()",
		tests: "./internal/node/prober -run ^TestAPodWithANetworkIsAskedThere$",
	},
	{
		wrong: "The network of a pod stays when the pod is gone.",
		file:  "internal/node/process/sandbox/tmpfs.go",
		old:   "	b.networks.remove(pod)\n",
		new:   "",
		tests: "./internal/node/process -run ^TestThePodsNetworkEndsWithThePod$",
	},
	{
		wrong: "A host process that replaces another one does not know the Services.",
		file:  "internal/node/process/process.go",
		old:   "if s := r.services.Load(); s != nil {",
		new:   "if s := r.services.Load(); false {",
		tests: "./internal/node/process -run ^TestNetworksAfterTheHostIsKilled$",
	},
	{
		wrong: "A descriptor of a pod's network stays open when the pod is gone.",
		file:  "internal/node/process/sandbox/podnetworks.go",
		old:   "		pod.Close()\n		delete(n.of, uid)",
		new:   "		delete(n.of, uid)",
		tests: "./internal/node/process -run ^TestThePodsNetworkEndsWithThePod$",
	},
	{
		wrong: "An interface that the kernel has not removed yet keeps the next pod with its address from starting.",
		file:  "internal/node/network/attach.go",
		old:   "if errors.Is(err, unix.EEXIST) {",
		new:   "if false {",
		tests: "./internal/node/network -run ^TestManyPodsLeaveNothing$",
	},
	{
		wrong: "The address of a pod that is gone is never used again.",
		file:  "internal/node/finish.go",
		old:   "	w.networks.release(p.uid)\n",
		new:   "",
		tests: "./internal/node -run ^TestMorePodsRunThanThereAreAddresses$",
	},
	{
		wrong: "Pods get a network that have no Service beside them.",
		file:  "internal/node/pod_networks.go",
		old:   `(api.Spec.Subdomain != "" || n.hasServices(api.Namespace))`,
		new:   "true",
		tests: "./internal/node -run ^TestWhichPodsGetANetwork$",
	},
	{
		wrong: "The address of a pod that starts is only in memory.",
		file:  "internal/node/sync.go",
		old:   " || p.address.IsValid() && api.Status.PodIP != p.address.String()",
		new:   "",
		tests: "./internal/node -run ^TestTheAddressOfAPodIsStoredBeforeItStarts$",
	},
}
