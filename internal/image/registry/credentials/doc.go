// Package credentials finds who we are to a registry.
//
// A Keychain answers with the credentials to try, in order. There are two kinds: the pull secrets of a pod, matched as
// the kubelet matches them, and what the user has logged in to with docker or podman. Both are files of the same shape;
// the user's may also name programs that keep the secrets.
//
// No error of this package and no printed Credential holds a secret.
package credentials
