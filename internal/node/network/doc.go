// Package network gives pods a network of their own, apart from the machine's.
//
//	machine                         network of all pods                     network of a pod
//	(or user's) network             (a network namespace)                   (a network namespace each)
//
//	 egress dials  ◄── egress listens ◄── nftables ◄── route 10.244.0.5/32 ── veth ── eth0 10.244.0.5
//	 resolver      ◄── DNS server                 └──  route 10.244.0.6/32 ── veth ── eth0 10.244.0.6
//
// Packets between pods are routed, not bridged: each pod is alone on its link, with the gateway. So all of them pass the
// rules for Services, answers too, and no pod can pretend to be another.
//
// Nothing on the machine is changed, and it takes no rights there: all namespaces belong to the user namespace of this
// process. What leaves them are TCP connections. They are accepted in the network of all pods, and this process makes them
// anew on the machine.
//
// Nothing is left behind: a namespace ends, with its interfaces, addresses and rules, when no process is in it and no
// process has it open.
package network
