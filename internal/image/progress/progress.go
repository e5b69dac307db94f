// Package progress is how a node tells how far its pulls of images are, to who cannot ask it: in an annotation of its object.
//
//	node    pulls ──► annotation of the Node, once a second at most, gone when no pull runs
//	         │
//	         └──────► message of the containers that wait, written once: which image that is
//	reader  pods that wait, by their message ──► the annotation of their node
//
// Hundreds of pods may wait for one image. To write to each of them how far it is would cost more than to pull it.
package progress

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Annotation of a node holds its pulls.
const Annotation = "stint.dev/image-pulls"

// Pull is how far the pull of an image is.
type Pull struct {
	// Image is the name by which pods ask for it.
	Image string `json:"image"`
	// Done and Total are in bytes: of the layers that were missing, compressed.
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

// Text is what the annotation says of pulls; nothing where there are none.
func Text(pulls []Pull) string {
	if len(pulls) == 0 {
		return ""
	}
	text, err := json.Marshal(pulls)
	if err != nil {
		panic(err) // names and numbers can be written
	}
	return string(text)
}

// Of returns the pulls in a node's annotation; none where it is missing or damaged.
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

// Message is that of a container that waits for the pull of an image.
func Message(image string) string { return pulling + strconv.Quote(image) }

// Image is that for whose pull a container waits; ok is false where it waits for something else.
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

// Images are those for whose pull a pod waits.
func Images(pod *corev1.Pod) (images []string) {
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if image, ok := Image(s.State.Waiting); ok && !slices.Contains(images, image) {
			images = append(images, image)
		}
	}
	return images
}

// Bytes is a number of bytes in few digits.
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
