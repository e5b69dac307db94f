package network

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"github.com/stint-dev/stint/internal/node/runtime"
)

// resolverFile says which DNS servers the machine asks. It is read for each question, because a machine may change them.
const resolverFile = "/etc/resolv.conf"

// Bounds of what pods have of a name server at a time, each and all: questions that are passed on, of which further ones get no
// answer, as if the packet were lost; and TCP connections, of which further ones are closed.
const (
	podQuestions, maxQuestions           = 128, 256
	podDNSConnections, maxDNSConnections = 32, 256
)

// nameServer answers the pods' questions for names, at the gateway. What is not the cluster's it asks the machine's DNS
// servers.
type nameServer struct {
	known atomic.Pointer[known]
	pods  netip.Prefix
	// resolvers returns the machine's DNS servers.
	resolvers func() []netip.AddrPort
	servers   []*dns.Server
	questions *shares
	running   sync.WaitGroup
}

// newNameServer listens in the network namespace of the calling thread.
func newNameServer(gateway netip.Addr, pods netip.Prefix) (*nameServer, error) {
	at := netip.AddrPortFrom(gateway, dnsPort)
	packets, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(at))
	if err != nil {
		return nil, err
	}
	listener, err := net.ListenTCP("tcp4", net.TCPAddrFromAddrPort(at))
	if err != nil {
		packets.Close()
		return nil, err
	}
	s := &nameServer{pods: pods, resolvers: resolvers, questions: newShares(podQuestions, maxQuestions)}
	s.known.Store(&known{names: &runtime.Names{}, former: map[string]formerHost{}})
	s.servers = []*dns.Server{{PacketConn: packets, Handler: s}, {Listener: &sharedListener{listener, newShares(podDNSConnections, maxDNSConnections)}, Handler: s}}
	return s, nil
}

func (s *nameServer) setNames(names *runtime.Names) {
	s.known.Store(s.known.Load().replaced(names, s.pods, time.Now()))
}

func (s *nameServer) start() {
	for _, server := range s.servers {
		var ready sync.WaitGroup
		ready.Add(1)
		server.NotifyStartedFunc = ready.Done
		// It ends without an error only when it is shut down, and nothing else ends it.
		s.running.Go(func() { _ = server.ActivateAndServe() })
		ready.Wait()
	}
}

func (s *nameServer) close() {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // Answers that are under way are not waited for.
	for _, server := range s.servers {
		// It fails if it has not been started.
		_ = server.ShutdownContext(ended)
		if server.PacketConn != nil {
			server.PacketConn.Close()
		} else {
			server.Listener.Close()
		}
	}
	s.running.Wait()
}

// ServeDNS implements dns.Handler.
func (s *nameServer) ServeDNS(w dns.ResponseWriter, question *dns.Msg) {
	reply := new(dns.Msg).SetReply(question)
	reply.RecursionAvailable = true
	network := w.LocalAddr().Network()
	if len(question.Question) != 1 || question.Opcode != dns.OpcodeQuery {
		reply.Rcode = dns.RcodeNotImplemented
	} else if !s.resolve(reply, question.Question[0], remote(w.RemoteAddr()), network) {
		return
	}
	size := dns.MaxMsgSize
	if network == "udp" {
		size = dns.MinMsgSize
		if options := question.IsEdns0(); options != nil {
			reply.SetEdns0(dns.DefaultMsgSize, false)
			size = max(size, int(options.UDPSize()))
		}
	}
	reply.Truncate(size)
	_ = w.WriteMsg(reply)
}

// resolve adds what is known of a name. An alias is followed, because programs rely on that. It returns false if the pod is to get
// no answer.
func (s *nameServer) resolve(reply *dns.Msg, q dns.Question, pod netip.Addr, network string) bool {
	known := s.known.Load()
	for range maxAliases {
		records, rcode, mine := known.answer(s.pods, q, time.Now())
		if !mine {
			if !s.questions.take(pod) {
				return false
			}
			defer s.questions.give(pod)
			s.pass(reply, q, network)
			return true
		}
		reply.Authoritative = true
		reply.Answer = append(reply.Answer, records...)
		reply.Rcode = rcode
		if len(records) != 1 || q.Qtype == dns.TypeCNAME {
			return true
		}
		alias, is := records[0].(*dns.CNAME)
		if !is {
			return true
		}
		q.Name = alias.Target
	}
	reply.Rcode = dns.RcodeServerFailure
	return true
}

// maxAliases is how many aliases are followed; more are a circle.
const maxAliases = 8

// pass asks the machine's DNS servers, one after another, until one answers.
func (s *nameServer) pass(reply *dns.Msg, q dns.Question, network string) {
	question := new(dns.Msg).SetQuestion(q.Name, q.Qtype)
	question.SetEdns0(dns.DefaultMsgSize, false)
	client := dns.Client{Net: network}
	reply.Rcode = dns.RcodeServerFailure
	for _, server := range s.resolvers() {
		got, _, err := client.Exchange(question, server.String())
		if err != nil || got.Rcode == dns.RcodeServerFailure {
			continue
		}
		reply.Answer = append(reply.Answer, got.Answer...)
		reply.Ns, reply.Rcode, reply.Truncated = got.Ns, got.Rcode, got.Truncated
		return
	}
}

// resolvers are the machine's DNS servers.
func resolvers() []netip.AddrPort {
	config, err := dns.ClientConfigFromFile(resolverFile)
	if err != nil {
		return nil
	}
	var all []netip.AddrPort
	for _, server := range config.Servers {
		if addr, err := netip.ParseAddr(server); err == nil {
			all = append(all, netip.AddrPortFrom(addr, dnsPort))
		}
	}
	return all
}
