package pod

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// imageReference is [HOST[:PORT]/]PATH[:TAG][@DIGEST], with the tag and the digest as groups.
var imageReference = regexp.MustCompile(`^` +
	`((` + imageHost + `(\.` + imageHost + `)*|\[[[:xdigit:]:]+\])(:[0-9]+)?/)?` +
	imagePath + `(/` + imagePath + `)*` +
	`(:(?P<tag>\w[\w.-]{0,127}))?` +
	`(@(?P<digest>[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*:[[:xdigit:]]{32,}))?$`)

const (
	imageHost = `([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])`
	imagePath = `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
)

// defaultPullPolicy returns Always for images with the tag latest or without tag and digest, which may change.
func defaultPullPolicy(image string) corev1.PullPolicy {
	parts := imageReference.FindStringSubmatch(image)
	if parts == nil {
		return corev1.PullIfNotPresent
	}
	tag, digest := parts[imageReference.SubexpIndex("tag")], parts[imageReference.SubexpIndex("digest")]
	if tag == "latest" || tag == "" && digest == "" {
		return corev1.PullAlways
	}
	return corev1.PullIfNotPresent
}
