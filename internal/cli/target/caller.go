package target

import (
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
	words = append([]string{"stint"}, words...)
	if namespace != "" && namespace != c.Namespace {
		words = append(words, "-n", namespace)
	}
	words = append(words, c.Flags...)
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
