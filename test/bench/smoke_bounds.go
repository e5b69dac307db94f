package main

// smokeBounds are the figures of part smoke, and above what they fail the build. None depends on how fast the machine is.
//
// A bound is some 20 % above its figure. Where a change lowers a figure, lower its bound in the same commit: run make
// bench-smoke and multiply by 1.2. Where a change has to raise one, say in the commit what it buys.
var smokeBounds = []struct {
	what  string
	bound float64
	of    func(smokeResult) float64
}{
	{"objects allocated a pod", 2150, func(r smokeResult) float64 { return r.objects }},
	{"KB allocated a pod", 210, func(r smokeResult) float64 { return r.kilobytes }},
	{"writes a pod", 3.5, func(r smokeResult) float64 { return r.writes }},
	{"MB of live heap, idle", 21, func(r smokeResult) float64 { return r.idleHeap }},
	{"KB of live heap a stored pod", 10, func(r smokeResult) float64 { return r.heapPerPod }},
	{"MB of the store in use, 1,000 pods stored", 4.8, func(r smokeResult) float64 { return r.store }},
	{"requests a pod, stint controller", 2.5, func(r smokeResult) float64 { return r.requests }},
}
