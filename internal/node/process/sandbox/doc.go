// Package sandbox turns one container into one process tree on this machine and makes sure the whole tree ends.
//
//	       Sandbox.Start                                    Process.Wait, EndTree, Release
//	            │                                                      ▲
//	            ▼                                                      │
//	slot: cgroup leaf, view  ──►  thread: enters the view,  ──►  process in its own session,
//	of the file system,           sets the host name,            dies with the thread that
//	termination message file      forks, goes back               forked it
//
// Threads. A process dies with the thread that forked it (the parent-death signal is the thread's, not the
// process's), so a few locked threads live as long as the host process and do all forking. Before each fork a thread
// enters what the child is to inherit (mount namespace, host name) and afterwards returns to where it was.
//
// Memory. A child shares the memory of this process until it executes its program. So it never meets a limit of its cgroup
// meanwhile, nor another process of its pid namespace: where it could, package stage gives it memory of its own before.
//
// Slots. Making a cgroup leaf and a mount namespace costs more than running /bin/true. When a container's tree has ended
// and left no trace in them, the next container uses them again.
//
// Views. A container sees the machine's file system with its volumes mounted over it. Where a mount point does not
// exist, the nearest directory that does exist is shadowed: a private tmpfs is mounted over it, and all its entries are
// bound back into that. So mount points appear in the container alone, and what the container writes into the directories
// of a shadowed one reaches the machine's disk as before. The shadow itself is read-only: what was written there would be
// lost.
//
// Walks. Other containers of a pod may write to its volumes while one starts. So a path is looked up once, from descriptor
// to descriptor, and files and mounts are made at the descriptor where the walk has ended. A walk that enters a volume
// cannot leave it.
//
// Trees. With a cgroup of version 2, cgroup.kill ends all of a tree except processes that have moved to another cgroup.
// Because of these, and where there are no cgroups, the host process is the parent of orphans (a subreaper), and knows
// whose they are by a variable in their environment, the mark.
//
// When the host process dies, the main processes of containers die by their parent-death signal, and with them the pid
// namespaces of containers from images. If the host itself is the first process of a pid namespace, the kernel kills all
// other processes as well. Otherwise the next host process kills them (Sweep): it finds them by their cgroups of version 2
// or of the version 1 pids controller, and by their mark. Without these cgroups it does not find a process that has removed
// the mark.
package sandbox
