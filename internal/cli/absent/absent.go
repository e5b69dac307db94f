// Package absent names the commands that create what a pod needs and what does not exist.
package absent

import (
	"context"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/podneeds"
)

// Get reads an object that pods need.
func Get(ctx context.Context, core corev1client.CoreV1Interface, kind podneeds.Kind, namespace, name string) (metav1.Object, error) {
	switch kind {
	case podneeds.ConfigMap:
		return core.ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	case podneeds.Secret:
		return core.Secrets(namespace).Get(ctx, name, metav1.GetOptions{})
	case podneeds.PersistentVolumeClaim:
		return core.PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
	}
	return core.ServiceAccounts(namespace).Get(ctx, name, metav1.GetOptions{})
}

// Remedy returns what creates the object: a command of stint or, on a cluster, of kubectl.
func Remedy(need podneeds.Need, namespace string, caller target.Caller, onCluster bool) string {
	line := caller.Command
	if onCluster {
		line = caller.Kubectl
	}
	command := func(words ...string) string { return line(namespace, words...) }
	switch {
	case need.Kind == podneeds.ServiceAccount:
		return command("create", "serviceaccount", need.Name)
	case need.Kind == podneeds.Secret:
		return command(append([]string{"create", "secret", "generic", need.Name}, sources(need.Keys)...)...)
	case need.Kind == podneeds.ConfigMap:
		return command(append([]string{"create", "configmap", need.Name}, sources(need.Keys)...)...)
	case onCluster:
		return "write a PersistentVolumeClaim into a file, then " + command("apply", "-f", "FILE")
	}
	return "make it of a directory with " + command("run", "--claim", need.Name+"=DIR", "-f", "FILE") + ", or apply a PersistentVolumeClaim"
}

// sources returns the flags for the keys. A key with a dot is the name of a file, as a rule.
func sources(keys []string) []string {
	if len(keys) == 0 {
		return []string{"--from-literal=KEY=VALUE"}
	}
	var flags []string
	for _, key := range keys {
		if strings.Contains(key, ".") {
			flags = append(flags, "--from-file="+key+"=FILE")
		} else {
			flags = append(flags, "--from-literal="+key+"=VALUE")
		}
	}
	return flags
}
