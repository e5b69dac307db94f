// Command stint runs Kubernetes Jobs, with or without Kubernetes.
package main

func main() {}
