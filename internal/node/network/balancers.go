package network

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// maxBackends is to how many backends a port leads: the kernel takes at most 64 KiB for all of them.
const maxBackends = 1000

// The kernel takes only so many bytes and messages at a time. A transaction ends when it has this many elements; a balancer's
// messages weigh as much as many of them.
const (
	maxElements  = 1200
	chainElement = 40
)

// balancer is a chain that leads the connections of a port to its backends.
type balancer struct {
	port  runtime.ServicePort
	chain *nftables.Chain
}

// set changes the rules to those for these Services: the rules of each port at once, those of different ports maybe not.
// Connections that exist stay where they are. What has failed is done by the next call.
func (r *rules) set(s runtime.Services) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	ports, hosts := map[string]runtime.ServicePort{}, map[netip.Addr]bool{}
	for _, p := range s.Ports {
		if len(p.Backends) == 0 {
			continue
		}
		p.Backends = p.Backends[:min(len(p.Backends), maxBackends)]
		ports[string(serviceKey(p))] = p
		for _, b := range p.Backends {
			hosts[b.Addr()] = true
		}
	}
	err := errors.Join(r.setRange(s.Range), r.setHosts(hosts), r.setPorts(ports))
	if err != nil {
		return fmt.Errorf("set the rules for Services: %w", err)
	}
	return nil
}

func (r *rules) setRange(within netip.Prefix) error {
	if within == r.within {
		return nil
	}
	r.conn.FlushSet(r.ranges)
	var err error
	if within.IsValid() {
		err = r.conn.SetAddElements(r.ranges, interval(within))
	}
	if err = errors.Join(err, r.conn.Flush()); err == nil {
		r.within = within
	}
	return err
}

// setHosts has the set selves pair these addresses with themselves.
func (r *rules) setHosts(hosts map[netip.Addr]bool) error {
	return errors.Join(
		r.changeHosts(missing(hosts, r.hosts), r.conn.SetAddElements, func(addr netip.Addr) { r.hosts[addr] = true }),
		r.changeHosts(missing(r.hosts, hosts), r.conn.SetDeleteElements, func(addr netip.Addr) { delete(r.hosts, addr) }))
}

// missing returns the keys of one map that another one does not have.
func missing[K comparable, A, B any](of map[K]A, in map[K]B) []K {
	var keys []K
	for key := range of {
		if _, is := in[key]; !is {
			keys = append(keys, key)
		}
	}
	return keys
}

func (r *rules) changeHosts(
	hosts []netip.Addr, change func(*nftables.Set, []nftables.SetElement) error, done func(netip.Addr),
) (err error) {
	for some := range slices.Chunk(hosts, maxElements) {
		pairs := make([]nftables.SetElement, len(some))
		for i, addr := range some {
			pairs[i].Key = append(addr.AsSlice(), addr.AsSlice()...)
		}
		failed := errors.Join(change(r.selves, pairs), r.conn.Flush())
		if failed == nil {
			for _, addr := range some {
				done(addr)
			}
		}
		err = errors.Join(err, failed)
	}
	return err
}

// setPorts replaces the balancers that are not as these ports want them.
func (r *rules) setPorts(ports map[string]runtime.ServicePort) (err error) {
	changed := missing(r.balancers, ports)
	for key, port := range ports {
		if now, is := r.balancers[key]; !is || now.port.Sticky != port.Sticky || !slices.Equal(now.port.Backends, port.Backends) {
			changed = append(changed, key)
		}
	}
	for len(changed) > 0 {
		n, elements := 0, 0
		for n < len(changed) && elements < maxElements {
			elements += chainElement + len(ports[changed[n]].Backends)
			n++
		}
		err = errors.Join(err, r.replace(changed[:n], ports))
		changed = changed[n:]
	}
	return err
}

// replace replaces the balancers of some keys, all at once or none.
func (r *rules) replace(keys []string, ports map[string]runtime.ServicePort) error {
	var failed error
	after := maps.Clone(r.balancers)
	for _, key := range keys {
		if before, is := after[key]; is {
			failed = errors.Join(failed, r.remove(key, before))
			delete(after, key)
		}
		if port, is := ports[key]; is {
			now, err := r.add(key, port)
			failed = errors.Join(failed, err)
			after[key] = now
		}
	}
	if err := errors.Join(failed, r.conn.Flush()); err != nil {
		return err
	}
	r.balancers = after
	return nil
}

func (r *rules) remove(key string, b balancer) error {
	err := r.conn.SetDeleteElements(r.services, []nftables.SetElement{{Key: []byte(key)}})
	r.conn.FlushChain(b.chain)
	r.conn.DelChain(b.chain)
	return err
}

func (r *rules) add(key string, port runtime.ServicePort) (balancer, error) {
	r.made++
	chain := r.conn.AddChain(&nftables.Chain{Table: r.table, Name: fmt.Sprintf("service-%d", r.made)})
	backends := &nftables.Set{
		Table: r.table, Anonymous: true, Constant: true, IsMap: true, KeyType: nftables.TypeInteger,
		DataType: nftables.MustConcatSetType(nftables.TypeIPAddr, nftables.TypeInetService),
	}
	var elements []nftables.SetElement
	for i, b := range port.Backends {
		elements = append(elements, nftables.SetElement{
			Key: binaryutil.NativeEndian.PutUint32(uint32(i)),
			Val: append(b.Addr().AsSlice(), word(b.Port())...),
		})
	}
	if err := r.conn.AddSet(backends, elements); err != nil {
		return balancer{}, err
	}
	r.rule(chain, isProtocol(port.Protocol), choose(port), exprs{
		&expr.Lookup{SourceRegister: first, DestRegister: first, IsDestRegSet: true, SetName: backends.Name, SetID: backends.ID},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: first, RegProtoMin: secondWord},
	})
	return balancer{port, chain}, r.conn.SetAddElements(r.services, []nftables.SetElement{{
		Key:         []byte(key),
		VerdictData: &expr.Verdict{Kind: expr.VerdictGoto, Chain: chain.Name},
	}})
}
