package absent

import (
	"testing"

	"github.com/stint-dev/stint/internal/cli/target"
	"github.com/stint-dev/stint/internal/podneeds"
)

func TestRemedy(t *testing.T) {
	for sentence, tc := range map[string]struct {
		need      podneeds.Need
		namespace string
		onCluster bool
		want      string
	}{
		"an account": {podneeds.Need{Kind: podneeds.ServiceAccount, Name: "builder"}, "default", false,
			"stint create serviceaccount builder --data-dir /srv"},
		"keys of a Secret": {podneeds.Need{Kind: podneeds.Secret, Name: "db", Keys: []string{"password", "user"}}, "ci", false,
			"stint create secret generic db --from-literal=password=VALUE --from-literal=user=VALUE -n ci --data-dir /srv"},
		"a ConfigMap of unknown keys": {podneeds.Need{Kind: podneeds.ConfigMap, Name: "env"}, "default", false,
			"stint create configmap env --from-literal=KEY=VALUE --data-dir /srv"},
		"files": {podneeds.Need{Kind: podneeds.ConfigMap, Name: "conf", Keys: []string{"app.conf"}}, "default", true,
			"kubectl create configmap conf --from-file=app.conf=FILE"},
		"a claim": {podneeds.Need{Kind: podneeds.PersistentVolumeClaim, Name: "data"}, "ci", false,
			"make it of a directory with stint run --claim data=DIR -f FILE -n ci --data-dir /srv, or apply a PersistentVolumeClaim"},
		"a claim on a cluster": {podneeds.Need{Kind: podneeds.PersistentVolumeClaim, Name: "data"}, "ci", true,
			"write a PersistentVolumeClaim into a file, then kubectl apply -f FILE -n ci"},
	} {
		t.Run(sentence, func(t *testing.T) {
			caller := target.Caller{Namespace: "default", Flags: []string{"--data-dir", "/srv"}}
			if got := Remedy(tc.need, tc.namespace, caller, tc.onCluster); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
