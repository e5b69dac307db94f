package network

import (
	"net/netip"

	"golang.org/x/sys/unix"
)

// Protocol is a protocol of a Service, by its number in packets.
type Protocol uint8

// Protocols that Services can have.
const (
	TCP Protocol = unix.IPPROTO_TCP
	UDP Protocol = unix.IPPROTO_UDP
)

// Services are the addresses that stand for others.
type Services struct {
	// Range has the addresses of all Services, also those that none has.
	Range netip.Prefix
	Ports []ServicePort
}

// ServicePort is one port of a Service.
type ServicePort struct {
	Address  netip.AddrPort
	Protocol Protocol
	// Backends are where connections lead to, each to one of them at random.
	Backends []netip.AddrPort
	// Sticky leads all connections of a pod to the same backend.
	Sticky bool
}
