// Package hosts finds the hosts from which the images of a registry are fetched: mirrors first, by HTTP or HTTPS, with
// certificates.
//
// Administrators configure them as for containerd, in one directory per registry:
//
//	/etc/containerd/certs.d/
//	  docker.io/hosts.toml             for this registry
//	  a.example.com_5000_/hosts.toml   for a.example.com:5000; a.example.com:5000/ is read too
//	  b.example.com/ca.crt             no hosts.toml: certificates as Docker names them
//	  _default/hosts.toml              for every registry without a directory of its own
//
// A hosts.toml lists hosts in the order to try them; its server, or else the registry itself, comes last:
//
//	server = "https://registry-1.docker.io"
//	[host."http://mirror.example.com:5000"]
//	  capabilities = ["pull", "resolve"]
//
// Unlike in containerd, an unknown key is an error that names it: a misspelt ca would otherwise go unnoticed.
// https://github.com/containerd/containerd/blob/main/docs/hosts.md describes every field.
package hosts
