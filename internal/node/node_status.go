package node

import (
	"cmp"
	"maps"
	"os"
	goruntime "runtime"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/internal/image/progress"
)

// Annotations of the Node that say what its pods can rely on.
const (
	isolationAnnotation  = "stint.dev/isolation"
	unenforcedAnnotation = "stint.dev/limits-not-enforced"
	noMountsAnnotation   = "stint.dev/volume-mounts-unavailable"
	noImagesAnnotation   = "stint.dev/images-unavailable"
)

func (r *registration) describe(object *corev1.Node) {
	if object.Labels == nil {
		object.Labels = map[string]string{}
	}
	maps.Copy(object.Labels, map[string]string{
		corev1.LabelHostname:   r.name,
		corev1.LabelOSStable:   goruntime.GOOS,
		corev1.LabelArchStable: goruntime.GOARCH,
	})
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[isolationAnnotation] = r.isolation.Isolation
	annotate(object.Annotations, unenforcedAnnotation, strings.Join(r.unenforced(), ","))
	why := ""
	if !r.isolation.CanMount {
		why = r.isolation.WhyNoMount
	}
	annotate(object.Annotations, noMountsAnnotation, why)
	annotate(object.Annotations, noImagesAnnotation, r.isolation.WhyNoImages)
	pulls, _ := r.pulls.text()
	annotate(object.Annotations, progress.Annotation, pulls)
}

func annotate(annotations map[string]string, key, value string) {
	if value == "" {
		delete(annotations, key)
		return
	}
	annotations[key] = value
}

// unenforced lists the limits that a container can exceed on this machine.
func (r *registration) unenforced() []string {
	var limits []string
	if !r.isolation.EnforcesCPU {
		limits = append(limits, "cpu")
	}
	if !r.isolation.EnforcesMemory {
		limits = append(limits, "memory")
	}
	if !r.isolation.CanMeasure {
		limits = append(limits, "ephemeral-storage")
	}
	return limits
}

func (r *registration) describeStatus(object *corev1.Node) {
	s := &object.Status
	s.Capacity = capacity(r.allocatable, r.dir)
	s.Allocatable = maps.Clone(r.allocatable)
	s.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: r.address},
		{Type: corev1.NodeHostName, Address: r.name},
	}
	s.NodeInfo = corev1.NodeSystemInfo{
		MachineID:               firstLine("/etc/machine-id"),
		BootID:                  firstLine("/proc/sys/kernel/random/boot_id"),
		KernelVersion:           firstLine("/proc/sys/kernel/osrelease"),
		OSImage:                 osImage(),
		ContainerRuntimeVersion: r.isolation.Name + "://" + r.isolation.Version,
		KubeletVersion:          r.version,
		OperatingSystem:         goruntime.GOOS,
		Architecture:            goruntime.GOARCH,
	}
	s.Conditions = []corev1.NodeCondition{withTimes(r.disk.condition(), s.Conditions), withTimes(r.ready(), s.Conditions)}
}

func (r *registration) ready() corev1.NodeCondition {
	return corev1.NodeCondition{
		Type:    corev1.NodeReady,
		Status:  corev1.ConditionTrue,
		Reason:  "KubeletReady",
		Message: "takes pods; isolation: " + r.isolation.Isolation + "; processes: " + cmp.Or(r.isolation.ProcessLimit, "no limit"),
	}
}

// withTimes sets the times of a condition.
func withTimes(condition corev1.NodeCondition, before []corev1.NodeCondition) corev1.NodeCondition {
	t := metav1.NewTime(now().Truncate(time.Second))
	condition.LastHeartbeatTime, condition.LastTransitionTime = t, t
	for _, c := range before {
		if c.Type == condition.Type && c.Status == condition.Status {
			condition.LastTransitionTime = c.LastTransitionTime
		}
	}
	return condition
}

func firstLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSpace(line)
}

func osImage() string {
	text, err := os.ReadFile("/etc/os-release")
	if err != nil {
		return goruntime.GOOS
	}
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
			return strings.Trim(name, `"`)
		}
	}
	return goruntime.GOOS
}
