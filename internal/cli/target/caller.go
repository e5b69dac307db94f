package target

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Caller is how the user called this command, as far as another one has to be called in the same way.
type Caller struct {
	// Flags choose the server, such as --data-dir /srv/stint.
	Flags []string
	// Namespace is that of commands that name none.
	Namespace string
}

// Caller is for hints before a server is found.
func (o Options) Caller() Caller { return Caller{Flags: o.Flags, Namespace: metav1.NamespaceDefault} }

// Command is one for the user to copy: stint with these words, in that namespace. An empty one is for commands that have
// none.
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

// ShellWord quotes what a shell would not take as one word.
func ShellWord(word string) string {
	if word != "" && strings.Trim(word, plain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
