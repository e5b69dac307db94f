package verbs

import (
	"testing"

	"github.com/stint-dev/stint/internal/cli/target"
)

func TestAKindThatIsNotServedIsNamed(t *testing.T) {
	const said = "resource mapping not found for name: \"web\" namespace: \"\" from \"d.yaml\": no matches for kind \"Deployment\" in version \"apps/v1\"\n" +
		"ensure CRDs are installed first"
	const want = `d.yaml: Deployment "web" (apps/v1) is not served by Stint: leave it out, or name a cluster that has it with --kubeconfig (stint api-resources lists what is served)`
	if got := aboutUnserved(said, target.Local); got != want {
		t.Errorf("got %s", got)
	}
	if got := aboutUnserved(said, target.Cluster); got != said {
		t.Errorf("of a cluster: %s", got)
	}
}
