package target

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Caller has the flags and the namespace with which the user called this command, for the commands in its messages.
type Caller struct {
	// Flags choose the server, such as --data-dir /srv/stint.
	Flags []string
	// Namespace is the default namespace of commands.
	Namespace string
}

// Caller returns the caller before a server is found.
func (o Options) Caller() Caller { return Caller{Flags: o.Flags, Namespace: metav1.NamespaceDefault} }

// Command returns a command line for the user to copy: stint with these words, in the namespace, which is empty for commands
// without one.
func (c Caller) Command(namespace string, words ...string) string {
	return c.line("stint", namespace, words, c.Flags)
}

// Kubectl is Command for kubectl, on a cluster.
func (c Caller) Kubectl(namespace string, words ...string) string {
	flags := slices.Clone(c.Flags)
	if at := slices.Index(flags, "--data-dir"); at >= 0 {
		flags = slices.Delete(flags, at, at+2)
	}
	return c.line("kubectl", namespace, words, flags)
}

func (c Caller) line(program, namespace string, words, flags []string) string {
	words = append([]string{program}, words...)
	if namespace != "" && namespace != c.Namespace {
		words = append(words, "-n", namespace)
	}
	words = append(words, flags...)
	for i, word := range words {
		words[i] = ShellWord(word)
	}
	return strings.Join(words, " ")
}

const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,@%+"

// ShellWord quotes a word for the shell, if necessary.
func ShellWord(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
