// Package progress is how a node publishes the progress of its image pulls to clients of the API server: in an annotation.
//
//	node    pulls ──► annotation of the Node, at most once a second, removed when no pull runs
//	         │
//	         └──────► message of the waiting containers, written once, with the name of the image
//	reader  message of the waiting containers ──► annotation of their Node
//
// Hundreds of pods may wait for one image. Writing the progress to each of them would cost more than the pull.
package progress

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Annotation is the annotation of a Node with its pulls.
const Annotation = "stint.dev/image-pulls"

// Pull is the progress of the pull of one image.
type Pull struct {
	// Image is the name of the image in the specs of pods.
	Image string `json:"image"`
	// Done and Total are the bytes of the missing layers, compressed: those that have been read, and all.
	Done  int64 `json:"done"`
	Total int64 `json:"total"`
}

// String is "34 MB of 120 MB (28%)".
func (p Pull) String() string {
	text := Bytes(p.Done) + " of " + Bytes(p.Total)
	if p.Total > 0 {
		text += fmt.Sprintf(" (%d%%)", min(100, p.Done*100/p.Total))
	}
	return text
}

// Text returns the value of the annotation for pulls; "" for none.
func Text(pulls []Pull) string {
	if len(pulls) == 0 {
		return ""
	}
	text, err := json.Marshal(pulls)
	if err != nil {
		panic(err) // Strings and numbers can always be encoded.
	}
	return string(text)
}

// Of returns the pulls in a node's annotation; none if it is missing or malformed.
func Of(node *corev1.Node) []Pull {
	var pulls []Pull
	if json.Unmarshal([]byte(node.Annotations[Annotation]), &pulls) != nil {
		return nil
	}
	return pulls
}

const (
	creating = "ContainerCreating"
	pulling  = "pulling image "
)

// Message returns the message of a container that waits for the pull of an image.
func Message(image string) string { return pulling + strconv.Quote(image) }

// Image returns the image for whose pull a container waits; ok is false if it waits for something else.
func Image(waiting *corev1.ContainerStateWaiting) (image string, ok bool) {
	if waiting == nil || waiting.Reason != creating {
		return "", false
	}
	quoted, ok := strings.CutPrefix(waiting.Message, pulling)
	if !ok {
		return "", false
	}
	image, err := strconv.Unquote(quoted)
	return image, err == nil
}

// Images returns the images for whose pulls the containers of a pod wait.
func Images(pod *corev1.Pod) (images []string) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if image, ok := Image(s.State.Waiting); ok && !slices.Contains(images, image) {
			images = append(images, image)
		}
	}
	return images
}

// Bytes formats a number of bytes, such as "1.5 GB" or "34 MB".
func Bytes(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	size, unit := float64(n), 0
	for size >= 1000 && unit < len(units)-1 {
		size /= 1000
		unit++
	}
	if unit == 0 || size >= 10 {
		return fmt.Sprintf("%.0f %s", size, units[unit])
	}
	return fmt.Sprintf("%.1f %s", size, units[unit])
}
