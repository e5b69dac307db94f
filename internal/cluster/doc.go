// Package cluster puts the controllers together on a Kubernetes cluster, as internal/server does on one machine.
//
//	API server answers ─▶ standby ── lease won ──▶ informers filled ─▶ leader
//	                         │                                           │
//	                         │ stopped                 stopped ┌─────────┴─────────┐ lease lost
//	                         ▼                                 ▼                   ▼
//	                       end 0      writes and events end, lease released     end 1, no
//	                                         ▼                                  more writes
//	                                       end 0
//
// A standby holds nothing of the cluster: who wins the lease lists afresh. Without leader election a process takes
// itself for the leader from the start.
package cluster
