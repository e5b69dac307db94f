package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	goruntime "runtime"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/node/taints"
)

// heartbeatEvery is how often the node says that it lives. It shares a process with the API server, so nobody needs
// to hear it often; an idle machine writes next to nothing.
const heartbeatEvery = 5 * time.Minute

// Annotations of the node's object that tell what its pods can count on.
const (
	isolationAnnotation  = "stint.dev/isolation"
	unenforcedAnnotation = "stint.dev/limits-not-enforced"
	noMountsAnnotation   = "stint.dev/volume-mounts-unavailable"
	noImagesAnnotation   = "stint.dev/images-unavailable"
)

// register makes the node's object, or brings the one of an earlier run up to date.
func (n *Node) register(ctx context.Context) error {
	object, err := n.Client.Nodes().Get(ctx, "", n.name)
	if apierrors.IsNotFound(err) {
		object = &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name}}
		n.describe(object)
		if object, err = n.Client.Nodes().Create(ctx, object); err != nil {
			return fmt.Errorf("node: create node %s: %w", n.name, err)
		}
	} else if err == nil {
		object, err = n.Client.Nodes().Modify(ctx, object, n.describe)
	}
	if err != nil {
		return fmt.Errorf("node: register %s: %w", n.name, err)
	}
	if _, err = n.Client.Nodes().ModifyStatus(ctx, object, n.describeStatus); err != nil {
		return fmt.Errorf("node: write the status of node %s: %w", n.name, err)
	}
	return nil
}

func (n *Node) heartbeat(ctx context.Context) {
	ticker := time.NewTicker(heartbeatEvery)
	defer ticker.Stop()
	err := n.renewLease(ctx) // the node itself is registered before its pods are looked at
	for {
		if err != nil {
			n.log(ctx, "heartbeat", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-n.missing:
		}
		err = errors.Join(n.register(ctx), n.renewLease(ctx))
	}
}

func (n *Node) describe(object *corev1.Node) {
	if object.Labels == nil {
		object.Labels = map[string]string{}
	}
	maps.Copy(object.Labels, map[string]string{
		corev1.LabelHostname:   n.name,
		corev1.LabelOSStable:   goruntime.GOOS,
		corev1.LabelArchStable: goruntime.GOARCH,
	})
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	object.Annotations[isolationAnnotation] = n.isolation.Isolation
	annotate(object.Annotations, unenforcedAnnotation, strings.Join(n.unenforced(), ","))
	why := ""
	if !n.isolation.CanMount {
		why = n.isolation.WhyNoMount
	}
	annotate(object.Annotations, noMountsAnnotation, why)
	annotate(object.Annotations, noImagesAnnotation, n.isolation.WhyNoImages)
	pulls, _ := n.pullsText()
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
func (n *Node) unenforced() []string {
	var limits []string
	if !n.isolation.EnforcesCPU {
		limits = append(limits, "cpu")
	}
	if !n.isolation.EnforcesMemory {
		limits = append(limits, "memory")
	}
	if !n.isolation.CanMeasure {
		limits = append(limits, "ephemeral-storage")
	}
	return limits
}

// nodeHandler heeds the taints of the node's object, and registers it again if it is deleted: it still runs.
func (n *Node) nodeHandler() cache.ResourceEventHandler {
	seen := func(obj any) {
		object, ok := obj.(*corev1.Node)
		if ok && object.Name == n.name && n.placer.taint(taints.Of(object), taints.DiskPressure(object)) {
			n.wakeAll(n.pods.uids())
		}
	}
	deleted := func(any) {
		select {
		case n.missing <- struct{}{}:
		default:
		}
	}
	return cache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: func(_, obj any) { seen(obj) }, DeleteFunc: deleted}
}

func (n *Node) describeStatus(object *corev1.Node) {
	s := &object.Status
	s.Capacity = capacity(n.allocatable, n.Dir)
	s.Allocatable = maps.Clone(n.allocatable)
	s.Addresses = []corev1.NodeAddress{
		{Type: corev1.NodeInternalIP, Address: n.address},
		{Type: corev1.NodeHostName, Address: n.name},
	}
	s.NodeInfo = corev1.NodeSystemInfo{
		MachineID:               firstLine("/etc/machine-id"),
		BootID:                  firstLine("/proc/sys/kernel/random/boot_id"),
		KernelVersion:           firstLine("/proc/sys/kernel/osrelease"),
		OSImage:                 osImage(),
		ContainerRuntimeVersion: n.isolation.Name + "://" + n.isolation.Version,
		KubeletVersion:          n.Version,
		OperatingSystem:         goruntime.GOOS,
		Architecture:            goruntime.GOARCH,
	}
	s.Conditions = []corev1.NodeCondition{at(n.diskPressure(), s.Conditions), at(n.ready(), s.Conditions)}
}

func (n *Node) ready() corev1.NodeCondition {
	return corev1.NodeCondition{
		Type:    corev1.NodeReady,
		Status:  corev1.ConditionTrue,
		Reason:  "KubeletReady",
		Message: "takes pods; isolation: " + n.isolation.Isolation + "; processes: " + cmp.Or(n.isolation.ProcessLimit, "no limit"),
	}
}

// at gives a condition its times.
func at(is corev1.NodeCondition, before []corev1.NodeCondition) corev1.NodeCondition {
	t := metav1.NewTime(now().Truncate(time.Second))
	is.LastHeartbeatTime, is.LastTransitionTime = t, t
	for _, c := range before {
		if c.Type == is.Type && c.Status == is.Status {
			is.LastTransitionTime = c.LastTransitionTime
		}
	}
	return is
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
