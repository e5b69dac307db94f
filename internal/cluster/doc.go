// Package cluster runs the controllers on a Kubernetes cluster, as internal/server does on one machine.
//
//	API server answers ─▶ standby ── lease won ──▶ informers filled ─▶ leader
//	                         │                                           │
//	                         │ stopped                 stopped ┌─────────┴─────────┐ lease lost
//	                         ▼                                 ▼                   ▼
//	                       end 0      writes and events end, lease released     end 1, no
//	                                         ▼                                  more writes
//	                                       end 0
//
// A standby caches nothing: its informers start when it wins the lease. Without leader election a process is the leader from the
// start.
package cluster
