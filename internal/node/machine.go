package node

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/stint-dev/stint/internal/datadir"
	"github.com/stint-dev/stint/internal/filesystem"
)

// defaultPods is how many pods run at the same time by default. Pods are processes here, so twice a kubelet's default
// is no load by itself; what the pods do is bounded by their requests.
const defaultPods = 250

// nameFor returns the node's name. One that comes from the host name is stored in dir, as pods stay bound to it when
// the host name changes.
func nameFor(given, dir string) (string, error) {
	if given != "" {
		return given, checkName("its name", given)
	}
	file := filepath.Join(dir, "node-name")
	stored, err := datadir.ReadFile(file)
	if name := strings.TrimSpace(string(stored)); err == nil && name != "" {
		return name, checkName(file, name)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("node: read its name: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	name := dnsName(host)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("node: make its folder: %w", err)
	}
	if err := datadir.WriteFile(file, []byte(name+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("node: store its name: %w", err)
	}
	return name, nil
}

// checkName refuses a name that no Node can have.
func checkName(field, name string) error {
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		return fmt.Errorf("node: %s: %q is not the name of a Node: correct it, or remove the file to have the machine's name: %s",
			field, name, wrong[0])
	}
	return nil
}

// dnsName converts a host name to the name of an object.
func dnsName(host string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(host) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	name := strings.Trim(b.String(), "-.")
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "localhost"
	}
	return name
}

// allocatableFor adds what the machine has to what is given. Its ephemeral-storage is the size of the file system of
// dir.
func allocatableFor(given corev1.ResourceList, dir string) (corev1.ResourceList, error) {
	list := corev1.ResourceList{}
	for name, value := range given {
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage, corev1.ResourcePods:
			list[name] = value
		default:
			return nil, fmt.Errorf("node: allocatable resource %q is not known; use cpu, memory, ephemeral-storage and pods", name)
		}
	}
	if _, ok := list[corev1.ResourceMemory]; !ok {
		memory, err := memoryBytes()
		if err != nil {
			return nil, fmt.Errorf("node: cannot find out how much memory the machine has, set the allocatable memory: %w", err)
		}
		list[corev1.ResourceMemory] = *resource.NewQuantity(memory, resource.BinarySI)
	}
	if _, ok := list[corev1.ResourceEphemeralStorage]; !ok {
		space, err := filesystem.SpaceOf(dir)
		if err != nil {
			return nil, fmt.Errorf("node: cannot find out how large the disk is, set the allocatable ephemeral-storage: %w", err)
		}
		list[corev1.ResourceEphemeralStorage] = *resource.NewQuantity(space.Bytes, resource.BinarySI)
	}
	if _, ok := list[corev1.ResourceCPU]; !ok {
		list[corev1.ResourceCPU] = *resource.NewQuantity(int64(goruntime.NumCPU()), resource.DecimalSI)
	}
	if _, ok := list[corev1.ResourcePods]; !ok {
		list[corev1.ResourcePods] = *resource.NewQuantity(defaultPods, resource.DecimalSI)
	}
	return list, nil
}

// capacity returns what the machine has, but no less than what is allocatable.
func capacity(allocatable corev1.ResourceList, dir string) corev1.ResourceList {
	all, err := allocatableFor(corev1.ResourceList{corev1.ResourcePods: allocatable[corev1.ResourcePods]}, dir)
	if err != nil {
		return maps.Clone(allocatable)
	}
	for name, value := range allocatable {
		if has := all[name]; has.Cmp(value) < 0 {
			all[name] = value
		}
	}
	return all
}

func memoryBytes() (int64, error) {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "MemTotal:" {
			kib, err := strconv.ParseInt(fields[1], 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.Join(lines.Err(), errors.New("/proc/meminfo has no MemTotal"))
}

// address returns the machine's IP address, which its pods share; the loopback address if there is no other.
func address() string {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return "127.0.0.1"
	}
	var other string
	for _, a := range addresses {
		network, ok := a.(*net.IPNet)
		if !ok || !network.IP.IsGlobalUnicast() {
			continue
		}
		if network.IP.To4() != nil {
			return network.IP.String()
		}
		if other == "" {
			other = network.IP.String()
		}
	}
	if other != "" {
		return other
	}
	return "127.0.0.1"
}
