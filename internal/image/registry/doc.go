// Package registry fetches images from registries.
//
// Resolve turns a name such as perl:5.34.0 into an Image: the manifest for this machine's platform, the configuration
// and the list of layers, all verified. Fetch then gets each layer into a file, going on where an earlier try ended.
//
//	name ──▶ hosts (mirrors first, package hosts) ──▶ credentials to try at each (package credentials)
//	           │                                                │
//	           ▼                                                ▼
//	       manifest or index ──▶ this platform's manifest ──▶ configuration, layers
//
// Every request is tried at one host after the other, with one credential after the other. If all fail with a temporary
// error, they are tried again after a pause, a few times.
//
// Registries are not trusted: a manifest, a configuration or a layer is read no further than its stated size, and must
// have its digest. A guard ends what takes too long. Errors are of the kinds in errors.go and hold no secret.
package registry
