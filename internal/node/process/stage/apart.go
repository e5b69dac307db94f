package stage

// memoryAddress is where a static program that makes the calls of a list has what their arguments point to.
const memoryAddress = 0x20000000

// memory is what the arguments of a child with memory of its own point to.
type memory struct {
	data []byte
	// fds are the descriptors that the child uses, pids is that of the pid namespace that it enters; -1 is none.
	fds  []int
	pids int
}

// NewApart returns a Program for a child that never shares the memory of this process in the cgroup, the pid namespace and the
// namespaces that it enters:
//
//	parent            first child                              child
//	  clone3 ────────► in the parent's memory, cgroup and pids
//	                   execve of a program of 1 KB, in memory
//	                   of its own: setns, clone3 ────────────► in the cgroup and the pid namespace
//	  ◄─────────────── process id; exit                        call 0, call 1, …, execve
//	  ◄──────────────────────────────────────────────────────── errors; exit
//
// What shares memory ends together when one of them reaches the limit of its cgroup, and a container that may trace one reads the
// memory of all.
func NewApart() *Program { return &Program{memory: &memory{pids: -1}} }

// IsApart reports whether the child has memory of its own.
func (p *Program) IsApart() bool { return p.memory != nil }

// EnterPIDs makes the child start in the pid namespace of a process, of which fd is a pidfd. The Program must be one of NewApart.
func (p *Program) EnterPIDs(fd int) { p.memory.pids = fd }

// place copies b into the memory, and returns its address there.
func (m *memory) place(b []byte) uintptr {
	at := memoryAddress + uintptr(len(m.data))
	m.data = append(m.data, b...)
	const alignment = 8
	m.data = append(m.data, make([]byte, -len(b)&(alignment-1))...)
	return at
}
