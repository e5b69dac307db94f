package network

import (
	"encoding/binary"
	"net/netip"
	"sync"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// egressPort is where the network of all pods accepts the connections that leave it.
const egressPort = 15001

// dnsPort is where the gateway answers questions for names.
const dnsPort = 53

// rules are those of the network of all pods:
//
//	map services { address . protocol . port : goto service-… }
//
//	prerouting   services, then TCP to what is no pod's: to egress
//	output       services
//	postrouting  a pod that a Service leads to itself: masqueraded, as it takes no packet from its own address
//	forward      what is to no pod that exists: refused
//	direct       what this process sends to no pod that exists: refused
//	local        what this process sends to Services that lead nowhere: refused
//	service-…    to one of the backends
type rules struct {
	conn  *nftables.Conn
	table *nftables.Table
	// services is the map; ranges has the addresses of Services; selves pairs each backend with itself.
	services, ranges, selves *nftables.Set

	mu sync.Mutex
	// made is how many balancers have been made, so that each has a name of its own.
	made int
	// balancers are those that the kernel has, by their keys in the map; hosts are those that it has in selves.
	balancers map[string]balancer
	hosts     map[netip.Addr]bool
	within    netip.Prefix
}

// Registers of nftables. first is 16 bytes, which the others divide.
const (
	first       = unix.NFT_REG_1
	firstWord   = unix.NFT_REG32_00
	secondWord  = unix.NFT_REG32_01
	thirdWord   = unix.NFT_REG32_02
	ipSource    = 12
	ipTarget    = 16
	targetPort  = 2
	addressSize = 4
	portSize    = 2
	// portUnreachable is the code by which ICMP refuses a connection.
	portUnreachable = 3
)

// newRules makes the rules in the network namespace of the calling thread, where its connection to the kernel stays.
func newRules(pods netip.Prefix) (_ *rules, err error) {
	conn, err := nftables.New(nftables.AsLasting())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = conn.CloseLasting()
		}
	}()
	r := &rules{conn: conn, balancers: map[string]balancer{}, hosts: map[netip.Addr]bool{}}
	r.table = conn.AddTable(&nftables.Table{Name: "pods", Family: nftables.TableFamilyIPv4})
	if err := r.addSets(); err != nil {
		return nil, err
	}
	prerouting := r.base("prerouting", nftables.ChainHookPrerouting, nftables.ChainPriorityNATDest)
	output := r.base("output", nftables.ChainHookOutput, nftables.ChainPriorityNATDest)
	postrouting := r.base("postrouting", nftables.ChainHookPostrouting, nftables.ChainPriorityNATSource)
	r.rule(prerouting, r.toServices())
	r.rule(output, r.toServices())
	gateway := Gateway(pods)
	r.rule(prerouting, isTCP(), target(gateway), targetPortIs(dnsPort), leave())
	r.rule(prerouting, isTCP(), target(gateway), translate(netip.AddrPortFrom(gateway, egressPort)))
	r.rule(prerouting, within(pods), leave())
	r.rule(prerouting, r.inRanges(), leave())
	r.rule(prerouting, isTCP(), translate(netip.AddrPortFrom(gateway, egressPort)))
	r.rule(postrouting, r.isSelf(), exprs{&expr.Masq{}})
	forward := r.filter("forward", nftables.ChainHookForward, nftables.ChainPriorityFilter)
	r.rule(forward, toALink(), within(pods), leave())
	r.refuse(forward)
	// Before Services are translated, as the rules see the link of the packet as it was.
	direct := r.filter("direct", nftables.ChainHookOutput, nftables.ChainPriorityMangle)
	r.rule(direct, toALink(), leave())
	r.rule(direct, target(gateway), leave())
	r.refuse(direct, within(pods))
	r.refuse(r.filter("local", nftables.ChainHookOutput, nftables.ChainPriorityFilter), r.inRanges())
	return r, conn.Flush()
}

func (r *rules) close() { _ = r.conn.CloseLasting() }

func (r *rules) addSets() error {
	address, port := nftables.TypeIPAddr, nftables.TypeInetService
	r.services = &nftables.Set{
		Table: r.table, Name: "services", IsMap: true, Concatenation: true, DataType: nftables.TypeVerdict,
		KeyType: nftables.MustConcatSetType(address, nftables.TypeInetProto, port),
	}
	r.ranges = &nftables.Set{Table: r.table, Name: "ranges", KeyType: address, Interval: true}
	r.selves = &nftables.Set{Table: r.table, Name: "selves", Concatenation: true, KeyType: nftables.MustConcatSetType(address, address)}
	for _, s := range []*nftables.Set{r.services, r.ranges, r.selves} {
		if err := r.conn.AddSet(s, nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *rules) base(name string, hook *nftables.ChainHook, priority *nftables.ChainPriority) *nftables.Chain {
	return r.conn.AddChain(&nftables.Chain{
		Table: r.table, Name: name, Type: nftables.ChainTypeNAT, Hooknum: hook, Priority: priority,
	})
}

func (r *rules) filter(name string, hook *nftables.ChainHook, priority *nftables.ChainPriority) *nftables.Chain {
	return r.conn.AddChain(&nftables.Chain{
		Table: r.table, Name: name, Type: nftables.ChainTypeFilter, Hooknum: hook, Priority: priority,
	})
}

// refuse adds the end of a chain. The kernel sends few ICMP messages a second, so that a connection gets a reset instead.
func (r *rules) refuse(chain *nftables.Chain, what ...exprs) {
	r.rule(chain, append(what, isTCP(), exprs{&expr.Reject{Type: unix.NFT_REJECT_TCP_RST}})...)
	r.rule(chain, append(what, exprs{&expr.Reject{Type: unix.NFT_REJECT_ICMP_UNREACH, Code: portUnreachable}})...)
}

// exprs is a part of a rule.
type exprs []expr.Any

func (r *rules) rule(chain *nftables.Chain, parts ...exprs) {
	rule := &nftables.Rule{Table: r.table, Chain: chain}
	for _, p := range parts {
		rule.Exprs = append(rule.Exprs, p...)
	}
	r.conn.AddRule(rule)
}

// choose loads the number of a backend.
func choose(port runtime.ServicePort) exprs {
	count := uint32(len(port.Backends))
	if !port.Sticky {
		return exprs{&expr.Numgen{Register: first, Modulus: count, Type: unix.NFT_NG_RANDOM}}
	}
	return exprs{
		&expr.Payload{DestRegister: first, Base: expr.PayloadBaseNetworkHeader, Offset: ipSource, Len: addressSize},
		&expr.Hash{SourceRegister: first, DestRegister: first, Length: addressSize, Modulus: count, Type: expr.HashTypeJenkins},
	}
}

func (r *rules) toServices() exprs {
	return exprs{
		&expr.Payload{DestRegister: firstWord, Base: expr.PayloadBaseNetworkHeader, Offset: ipTarget, Len: addressSize},
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: secondWord},
		&expr.Payload{DestRegister: thirdWord, Base: expr.PayloadBaseTransportHeader, Offset: targetPort, Len: portSize},
		&expr.Lookup{SourceRegister: firstWord, DestRegister: unix.NFT_REG_VERDICT, IsDestRegSet: true, SetName: r.services.Name, SetID: r.services.ID},
	}
}

func (r *rules) inRanges() exprs {
	return exprs{
		&expr.Payload{DestRegister: first, Base: expr.PayloadBaseNetworkHeader, Offset: ipTarget, Len: addressSize},
		&expr.Lookup{SourceRegister: first, SetName: r.ranges.Name, SetID: r.ranges.ID},
	}
}

func (r *rules) isSelf() exprs {
	return exprs{
		&expr.Payload{DestRegister: firstWord, Base: expr.PayloadBaseNetworkHeader, Offset: ipSource, Len: addressSize},
		&expr.Payload{DestRegister: secondWord, Base: expr.PayloadBaseNetworkHeader, Offset: ipTarget, Len: addressSize},
		&expr.Lookup{SourceRegister: firstWord, SetName: r.selves.Name, SetID: r.selves.ID},
	}
}

func isProtocol(p runtime.Protocol) exprs {
	return exprs{&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: first}, equals([]byte{byte(p)})}
}

func isTCP() exprs { return isProtocol(runtime.TCP) }

func target(addr netip.Addr) exprs { return within(netip.PrefixFrom(addr, addr.BitLen())) }

// toALink matches packets to pods that exist: the others have no route of their own.
func toALink() exprs {
	return exprs{
		&expr.Meta{Key: expr.MetaKeyOIF, Register: first},
		&expr.Cmp{Op: expr.CmpOpNeq, Register: first, Data: binaryutil.NativeEndian.PutUint32(uint32(loopback.Index))},
	}
}

// within matches packets to a range.
func within(p netip.Prefix) exprs {
	return exprs{
		&expr.Payload{DestRegister: first, Base: expr.PayloadBaseNetworkHeader, Offset: ipTarget, Len: addressSize},
		&expr.Bitwise{SourceRegister: first, DestRegister: first, Len: addressSize, Mask: network(p).Mask, Xor: make([]byte, addressSize)},
		equals(p.Masked().Addr().AsSlice()),
	}
}

func targetPortIs(port uint16) exprs {
	return exprs{
		&expr.Payload{DestRegister: first, Base: expr.PayloadBaseTransportHeader, Offset: targetPort, Len: portSize},
		equals(binaryutil.BigEndian.PutUint16(port)),
	}
}

// translate leads a connection to another address.
func translate(to netip.AddrPort) exprs {
	return exprs{
		&expr.Immediate{Register: firstWord, Data: to.Addr().AsSlice()},
		&expr.Immediate{Register: secondWord, Data: binaryutil.BigEndian.PutUint16(to.Port())},
		&expr.NAT{Type: expr.NATTypeDestNAT, Family: unix.NFPROTO_IPV4, RegAddrMin: firstWord, RegProtoMin: secondWord},
	}
}

// leave ends a base chain: the packet goes on as it is.
func leave() exprs { return exprs{&expr.Verdict{Kind: expr.VerdictReturn}} }

func equals(data []byte) *expr.Cmp { return &expr.Cmp{Op: expr.CmpOpEq, Register: first, Data: data} }

// word is a number at the beginning of a word, as concatenations have it.
func word(n uint16) []byte { return append(binaryutil.BigEndian.PutUint16(n), 0, 0) }

func serviceKey(port runtime.ServicePort) []byte {
	key := append(port.Address.Addr().AsSlice(), byte(port.Protocol), 0, 0, 0)
	return append(key, word(port.Address.Port())...)
}

// interval lists the two ends of a range, as sets have it.
func interval(p netip.Prefix) []nftables.SetElement {
	start := p.Masked().Addr().AsSlice()
	end := binary.BigEndian.Uint32(start) + 1<<(32-p.Bits())
	return []nftables.SetElement{{Key: start}, {Key: binary.BigEndian.AppendUint32(nil, end), IntervalEnd: true}}
}
