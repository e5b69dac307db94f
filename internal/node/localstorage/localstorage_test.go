package localstorage_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/stint-dev/stint/internal/node/localstorage"
)

const mib = 1 << 20

func container(name, limit string) corev1.Container {
	c := corev1.Container{Name: name}
	if limit != "" {
		c.Resources.Limits = corev1.ResourceList{corev1.ResourceEphemeralStorage: resource.MustParse(limit)}
	}
	return c
}

func emptyDir(name, limit string, medium corev1.StorageMedium) corev1.Volume {
	source := &corev1.EmptyDirVolumeSource{Medium: medium}
	if limit != "" {
		size := resource.MustParse(limit)
		source.SizeLimit = &size
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: source}}
}

func pod(volumes []corev1.Volume, containers ...corev1.Container) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{Volumes: volumes, Containers: containers}}
}

func withInit(p *corev1.Pod, c ...corev1.Container) *corev1.Pod {
	p.Spec.InitContainers = c
	return p
}

func volumes(v ...corev1.Volume) []corev1.Volume { return v }

func TestExceeded(t *testing.T) {
	type bytes = map[string]int64
	for sentence, c := range map[string]struct {
		pod                   *corev1.Pod
		containers, emptyDirs bytes
		logs                  bytes
		unlimited             bool
		want                  string
	}{
		"a pod without limits": {
			pod:        pod(volumes(emptyDir("v", "", "")), container("a", "")),
			containers: bytes{"a": 1 << 40}, emptyDirs: bytes{"v": 1 << 40}, unlimited: true,
		},
		"an emptyDir at its limit": {
			pod: pod(volumes(emptyDir("v", "1Mi", "")), container("a", "")), emptyDirs: bytes{"v": mib},
		},
		"an emptyDir above its limit": {
			pod:       pod(volumes(emptyDir("u", "1Mi", ""), emptyDir("v", "1Mi", "")), container("a", "")),
			emptyDirs: bytes{"v": mib + 1}, want: `Usage of EmptyDir volume "v" exceeds the limit "1Mi". `,
		},
		"an emptyDir whose limit is zero has none": {
			pod: pod(volumes(emptyDir("v", "0", "")), container("a", "")), emptyDirs: bytes{"v": mib}, unlimited: true,
		},
		"an emptyDir in memory takes no disk": {
			pod: pod(volumes(emptyDir("v", "1Mi", corev1.StorageMediumMemory)), container("a", "")), unlimited: true,
		},
		"a container at its limit": {
			pod: pod(nil, container("a", "1Mi")), containers: bytes{"a": mib},
		},
		"a container above its limit, which is the pod's": {
			pod: pod(nil, container("a", "1Mi")), containers: bytes{"a": mib + 1},
			want: "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ",
		},
		"a container above its limit with its log": {
			pod: pod(nil, container("a", "1Mi"), container("b", "9Mi")), containers: bytes{"a": mib}, logs: bytes{"a": 1, "b": mib},
			want: `Container a exceeded its local ephemeral storage limit "1Mi". `,
		},
		"a container above its limit in a pod that is not": {
			pod: pod(nil, container("a", "1Mi"), container("b", "9Mi")), containers: bytes{"a": mib + 1, "b": mib},
			want: `Container a exceeded its local ephemeral storage limit "1Mi". `,
		},
		"emptyDirs count for the pod": {
			pod:        pod(volumes(emptyDir("v", "", "")), container("a", "1Mi"), container("b", "1Mi")),
			containers: bytes{"a": mib, "b": mib / 2}, emptyDirs: bytes{"v": mib/2 + 1},
			want: "Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ",
		},
		"emptyDirs do not count for containers": {
			pod:        pod(volumes(emptyDir("v", "", "")), container("a", "1Mi"), container("b", "9Mi")),
			containers: bytes{"a": mib}, emptyDirs: bytes{"v": 8 * mib},
		},
		"what has no limit counts for the pod too": {
			pod: pod(nil, container("a", "1Mi"), container("b", "")), containers: bytes{"b": mib + 1},
			want: "Pod ephemeral local storage usage exceeds the total limit of containers 1Mi. ",
		},
		"a limit of zero": {
			pod: pod(nil, container("a", "0")), containers: bytes{"a": 1},
			want: "Pod ephemeral local storage usage exceeds the total limit of containers 0. ",
		},
		"an init container may have more than the others": {
			pod: withInit(pod(nil, container("a", "1Mi")), container("i", "5Mi")), containers: bytes{"i": 4 * mib},
		},
		"an init container above its limit": {
			pod: withInit(pod(nil, container("a", "1Mi")), container("i", "5Mi")), containers: bytes{"i": 6 * mib},
			want: "Pod ephemeral local storage usage exceeds the total limit of containers 5Mi. ",
		},
		"emptyDirs come first": {
			pod:        pod(volumes(emptyDir("v", "1Mi", "")), container("a", "1Mi")),
			containers: bytes{"a": 9 * mib}, emptyDirs: bytes{"v": 9 * mib},
			want: `Usage of EmptyDir volume "v" exceeds the limit "1Mi". `,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := localstorage.Exceeded(c.pod, localstorage.Usage{Roots: c.containers, Logs: c.logs, EmptyDirs: c.emptyDirs})
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if localstorage.IsLimited(c.pod) == c.unlimited {
				t.Errorf("IsLimited is %t", !c.unlimited)
			}
		})
	}
}
