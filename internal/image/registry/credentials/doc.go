// Package credentials finds the credentials for a registry.
//
// A Keychain returns the credentials to try, in order. There are two kinds: the pull secrets of a pod, matched as the kubelet
// matches them, and the user's logins with docker or podman. Both have the format of a docker config; the user's may also
// name helper programs that keep the secrets.
//
// No error of this package and no printed Credential holds a secret.
package credentials
