package sandbox

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/stint-dev/stint/internal/node/network"
)

func TestTheNetworkOfAPodEndsAWhileAfterThePod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		namespace, n := oneNetwork(t)
		n.remove("a")
		n.remove("a")
		time.Sleep(network.Lingers - 1)
		synctest.Wait()
		if _, err := namespace.Stat(); err != nil || len(n.of) != 0 {
			t.Errorf("it has ended: %v; %d pods are left", err, len(n.of))
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if _, err := namespace.Stat(); err == nil || len(n.ended) != 0 {
			t.Error("it goes on")
		}
	})
}

func TestOfManyPodsTheNetworksEndAtOnce(t *testing.T) {
	namespace, n := oneNetwork(t)
	for range maxEnded {
		n.ended[&network.Pod{}] = nil
	}
	n.remove("a")
	if _, err := namespace.Stat(); err == nil || len(n.ended) != maxEnded {
		t.Errorf("it goes on, as one of %d", len(n.ended))
	}
}

// oneNetwork has that of the pod a.
func oneNetwork(t *testing.T) (namespace *os.File, _ *podNetworks) {
	t.Helper()
	namespace, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	return namespace, &podNetworks{of: map[types.UID]*network.Pod{"a": {Namespace: namespace}}, ended: map[*network.Pod]*time.Timer{}}
}
