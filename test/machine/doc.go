// Package machine runs commands in virtual machines, so that tests see another version of cgroups than this machine has.
// The script test/machine/boot boots one, in some seconds. Its processor is emulated, so that neither root nor KVM is needed.
//
//	test ──▶ boot ──▶ kernel    fetches Debian's kernel, once
//	           │
//	           └────▶ qemu ──▶ init ──▶ the command
package machine
