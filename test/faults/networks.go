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
		wrong: "A pod loses its name the moment it ends, so that others of its Job look for it for ever.",
		file:  "internal/node/network/former.go",
		old:   "former[host] = formerHost{address, at.Add(Lingers)}",
		new:   "former[host] = formerHost{address, at}",
		tests: "./internal/node/network -run ^TestAPodThatHasEndedKeepsItsNameForAWhile$",
	},
	{
		wrong: "A pod stops to answer pings the moment it ends.",
		file:  "internal/node/process/sandbox/podnetworks.go",
		old:   "if len(n.ended) == maxEnded {",
		new:   "if true {",
		tests: "./internal/node/process/sandbox -run ^TestTheNetworkOfAPodEndsAWhileAfterThePod$",
	},
}
