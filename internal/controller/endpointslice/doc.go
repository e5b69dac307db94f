// Package endpointslice writes the EndpointSlices of Services: which pods a Service leads to, on which ports, and whether they
// are ready.
//
//	informers ──► queue of Services ──► endpointsOf (a Service and its pods) ──► plan (and its slices) ──► apply
//
// A pod stays in the slice that it is in, so that little is written when one comes or goes. Slices have names that follow from
// the Service, so that a controller with an old cache cannot create one twice.
package endpointslice
