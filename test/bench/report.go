package main

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"text/tabwriter"

	"golang.org/x/sys/unix"
)

func (b *bench) printMachine() {
	var name unix.Utsname
	kernel := "?"
	if unix.Uname(&name) == nil {
		kernel = unix.ByteSliceToString(name.Release[:])
	}
	fmt.Printf("%d CPUs, Linux %s, %s, data on %s; medians of %d runs\n",
		runtime.NumCPU(), kernel, runtime.Version(), fileSystem(b.dir), b.runs)
}

func fileSystem(dir string) string {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return "an unknown file system"
	}
	switch int64(s.Type) {
	case unix.EXT4_SUPER_MAGIC:
		return "ext4"
	case unix.TMPFS_MAGIC:
		return "tmpfs (nothing is durable)"
	case unix.XFS_SUPER_MAGIC:
		return "xfs"
	case unix.BTRFS_SUPER_MAGIC:
		return "btrfs"
	case unix.OVERLAYFS_SUPER_MAGIC:
		return "overlayfs"
	}
	return fmt.Sprintf("file system %#x", s.Type)
}

// table collects lines and prints them in columns.
type table struct {
	buffer bytes.Buffer
	writer *tabwriter.Writer
}

func newTable(title string, head ...any) *table {
	t := &table{}
	fmt.Fprintf(&t.buffer, "\n%s\n", title)
	t.writer = tabwriter.NewWriter(&t.buffer, 0, 0, 2, ' ', tabwriter.AlignRight)
	t.line(head...)
	return t
}

func (t *table) line(cells ...any) {
	for _, c := range cells {
		if number, ok := c.(float64); ok {
			c = short(number)
		}
		fmt.Fprintf(t.writer, "%v\t", c)
	}
	fmt.Fprintln(t.writer)
}

func (t *table) print() {
	t.writer.Flush()                  //nolint:errcheck // a buffer takes everything
	os.Stdout.Write(t.buffer.Bytes()) //nolint:errcheck // there is no other place for the error
}

// short writes a number with about three digits that count.
func short(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}
