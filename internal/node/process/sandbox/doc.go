// Package sandbox turns one container into one process tree on this machine and makes sure the whole tree ends.
//
//	        Box.Start                                       Process.Wait, EndTree, Release
//	            │                                                      ▲
//	            ▼                                                      │
//	slot: cgroup leaf, view  ──►  thread: enters the view,  ──►  process in its own session,
//	of the file system,           sets host name and limits,     dies with the thread that
//	termination message file      forks, goes back               forked it
//
// Threads. A process dies with the thread that forked it (the parent-death signal is the thread's, not the
// process's), so a few locked threads live as long as the host process and do all forking. Before each fork a thread
// takes on what the child shall inherit (mount namespace, host name, version 1 cgroups) and afterwards returns to
// where it was. No big program is executed in between.
//
// Slots. A cgroup leaf and a mount namespace cost more than an execution of /bin/true. When a container's tree has
// ended, both are as good as new, so the next container takes them over.
//
// Views. A container sees the machine's file system with its volumes mounted over it. Where a mount point does not
// exist, the nearest directory that does is shadowed: a private tmpfs takes its place, and all its entries are bound
// back into it. So mount points appear in the container alone, and what the container writes into the directories of a
// shadowed one reaches the machine's disk as before. The shadow itself is read-only: what was written there would be lost.
//
// Walks. Other containers of a pod write to its volumes while one starts. So a path is looked up once, from descriptor to
// descriptor, and what is made or mounted is made or mounted at the descriptor where the walk has ended. A walk that
// enters a volume stays in it.
//
// Trees. With a cgroup of version 2 cgroup.kill ends a tree, but for what has moved to another cgroup. For the sake of
// that, and where there are no cgroups, the host process adopts orphans and tells them apart by a variable in their
// environment.
//
// The death of the host process ends the main processes of containers, and with them the pid namespaces of those that have
// one. In a pid namespace of the host's own, the kernel ends all other processes, too. Elsewhere the next host process
// ends them (Sweep), by their cgroups and by their mark. It does not find a process that has removed the mark where
// there are cgroups neither of version 2 nor of the pids controller.
package sandbox
