package podneeds

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func TestOf(t *testing.T) {
	for sentence, tc := range map[string]struct {
		pod  string
		want []Need
	}{
		"a pod may need nothing":                  {`containers: [{name: c, image: i, env: [{name: A, value: a}]}]`, nil},
		"every namespace has the account default": {`serviceAccountName: default`, nil},
		"an account":                 {`serviceAccountName: builder`, []Need{{Kind: ServiceAccount, Name: "builder"}}},
		"pull secrets may be absent": {`imagePullSecrets: [{name: registry}]`, nil},
		"keys of all containers are needed at once": {`
initContainers:
- {name: i, env: [{name: U, valueFrom: {secretKeyRef: {name: db, key: user}}}]}
containers:
- {name: c, env: [{name: P, valueFrom: {secretKeyRef: {name: db, key: password}}}, {name: U, valueFrom: {secretKeyRef: {name: db, key: user}}}]}
- {name: d, env: [{name: L, valueFrom: {configMapKeyRef: {name: settings, key: level}}}, {name: N, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}`,
			[]Need{{ConfigMap, "settings", []string{"level"}}, {Secret, "db", []string{"password", "user"}}}},
		"whole objects": {`containers: [{name: c, envFrom: [{secretRef: {name: s}}, {configMapRef: {name: m}}]}]`,
			[]Need{{Kind: ConfigMap, Name: "m"}, {Kind: Secret, Name: "s"}}},
		"volumes, with the files that are mounted by themselves": {`
containers: [{name: c, volumeMounts: [{name: m, mountPath: /m, subPath: app.conf}, {name: n, mountPath: /n, subPath: x}]}]
volumes: [{name: m, configMap: {name: settings}}, {name: n, secret: {secretName: s, items: [{key: k, path: x}]}}, {name: d, persistentVolumeClaim: {claimName: data}}]`,
			[]Need{{ConfigMap, "settings", []string{"app.conf"}}, {Secret, "s", []string{"k"}}, {Kind: PersistentVolumeClaim, Name: "data"}}},
		"projected volumes": {`volumes: [{name: p, projected: {sources: [{configMap: {name: m}}, {secret: {name: s, items: [{key: k, path: p}]}}]}}]`,
			[]Need{{Kind: ConfigMap, Name: "m"}, {Secret, "s", []string{"k"}}}},
		"nothing optional": {`
containers:
- name: c
  envFrom: [{secretRef: {name: s, optional: true}}, {configMapRef: {name: m, optional: true}}]
  env: [{name: A, valueFrom: {secretKeyRef: {name: s, key: k, optional: true}}}, {name: B, valueFrom: {configMapKeyRef: {name: m, key: k, optional: true}}}]
volumes:
- {name: a, configMap: {name: m, optional: true}}
- {name: b, secret: {secretName: s, optional: true}}
- {name: c, projected: {sources: [{configMap: {name: m, optional: true}}, {secret: {name: s, optional: true}}]}}`, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			pod := &corev1.PodSpec{}
			if err := yaml.UnmarshalStrict([]byte(tc.pod), pod); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, Of(pod)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
