// Command comments looks in the comments of Go files for words that docs/glossary.md has better ones for.
//
//	go run ./test/comments [folder…]
//
// It prints one line for each, with the word to use instead, and exits with 1 if there is any. Generated files are left
// out. A new entry of the list, in dialect.go, needs a reader who stumbled over the word.
package main
