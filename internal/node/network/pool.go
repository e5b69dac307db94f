package network

import (
	"fmt"
	"net/netip"

	"k8s.io/apimachinery/pkg/types"
)

// Pool says which pod has which address. It starts with what the pods' statuses say, so it needs no memory of its own.
type Pool struct {
	pods netip.Prefix
	// last was given out last. An address is used again as late as possible, for the sake of clients that still remember
	// which pod had it.
	last netip.Addr
	of   map[types.UID]netip.Addr
	used map[netip.Addr]bool
}

// NewPool returns a pool in which all addresses are free.
func NewPool(pods netip.Prefix) *Pool {
	return &Pool{pods: pods.Masked(), last: Gateway(pods), of: map[types.UID]netip.Addr{}, used: map[netip.Addr]bool{}}
}

// Keep has a pod keep the address that it had before a restart. An address of another range, as of a former host process,
// is no pod's.
func (p *Pool) Keep(pod types.UID, addr netip.Addr) {
	if p.pods.Contains(addr) && !p.used[addr] && !p.of[pod].IsValid() {
		p.give(pod, addr)
		if p.last.Less(addr) {
			p.last = addr
		}
	}
}

// Take returns the address of a pod, and gives it one if it has none.
func (p *Pool) Take(pod types.UID) (netip.Addr, error) {
	if addr, has := p.of[pod]; has {
		return addr, nil
	}
	start := p.next(p.last)
	for addr := start; ; {
		if !p.used[addr] {
			p.give(pod, addr)
			p.last = addr
			return addr, nil
		}
		if addr = p.next(addr); addr == start {
			break
		}
	}
	return netip.Addr{}, fmt.Errorf("all addresses of %s are those of other pods: let some of them end", p.pods)
}

// Release frees the address of a pod.
func (p *Pool) Release(pod types.UID) {
	delete(p.used, p.of[pod])
	delete(p.of, pod)
}

func (p *Pool) give(pod types.UID, addr netip.Addr) {
	p.of[pod], p.used[addr] = addr, true
}

// next is the address after addr that a pod can have, round and round: neither the range's own, nor the gateway, nor the
// broadcast address.
func (p *Pool) next(addr netip.Addr) netip.Addr {
	next := addr.Next()
	if !p.pods.Contains(next) || !p.pods.Contains(next.Next()) {
		return Gateway(p.pods).Next()
	}
	return next
}
