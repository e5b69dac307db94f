package runtime

import "net/netip"

// Network is the network that the containers of a pod share.
type Network struct {
	// Address is in the PodRange of the runtime. No other pod has it.
	Address netip.Addr `json:"address"`
}

// Protocol is a protocol of a Service, by its number in packets.
type Protocol uint8

// Protocols that Services can have.
const (
	TCP Protocol = 6
	UDP Protocol = 17
)

// Services are addresses that stand for those of pods, for all pods with a Network.
type Services struct {
	// Range has the addresses of all Services, and those that none has yet.
	Range netip.Prefix
	Ports []ServicePort
	Names Names
}

// Names are what DNS answers pods with a Network. Those that end in Domain are the cluster's, all others the machine's. They
// are in lower case and end in a dot.
type Names struct {
	Domain    string
	Addresses map[string][]netip.Addr
	// Aliases are other names for which a name stands.
	Aliases map[string]string
	// Ports are those behind the name of a port of a Service, with the names of where they are.
	Ports map[string][]NamedPort
	// Of has the name of an address.
	Of map[netip.Addr]string
}

// NamedPort is a port of a Service, or of a pod.
type NamedPort struct {
	Host string
	Port uint16
}

// ServicePort is one port of a Service.
type ServicePort struct {
	Address  netip.AddrPort
	Protocol Protocol
	// Backends are where connections lead to, each to one of them at random. Without any, they are refused.
	Backends []netip.AddrPort
	// NodePort is a port of the machine's loopback address that leads to them too, if it is not 0. Only TCP has them.
	NodePort uint16
	// Sticky leads all connections of a pod to the same backend.
	Sticky bool
}
