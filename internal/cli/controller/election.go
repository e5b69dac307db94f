package controller

import (
	"cmp"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/tools/leaderelection"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cluster"
)

// podNamespace is the file in which a pod finds its namespace.
const podNamespace = "/var/run/secrets/kubernetes.io/serviceaccount/namespace"

// electionFlags are kube-controller-manager's, with its defaults.
type electionFlags struct {
	elect bool
	cluster.Election
}

func (f *electionFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.elect, "leader-elect", true, "work only as the leader of several processes; the others stand by")
	flags.StringVar(&f.Namespace, "leader-elect-resource-namespace", "",
		"namespace of the Lease (default: the pod's, else "+metav1.NamespaceSystem+")")
	flags.StringVar(&f.Name, "leader-elect-resource-name", "stint-controller", "name of the Lease")
	flags.DurationVar(&f.LeaseDuration, "leader-elect-lease-duration", 15*time.Second, "how long the others wait before they replace a leader that does not renew its lease")
	flags.DurationVar(&f.RenewDeadline, "leader-elect-renew-deadline", 10*time.Second, "how long the leader tries to renew its lease before it exits")
	flags.DurationVar(&f.RetryPeriod, "leader-elect-retry-period", 2*time.Second, "time between two tries")
}

// checked returns nil if leader election is off.
func (f *electionFlags) checked() (*cluster.Election, error) {
	if !f.elect {
		return nil, nil
	}
	e := f.Election
	if e.Namespace == "" {
		// Outside a pod there is no such file.
		own, _ := os.ReadFile(podNamespace)
		e.Namespace = cmp.Or(strings.TrimSpace(string(own)), metav1.NamespaceSystem)
	}
	if errs := validation.IsDNS1123Label(e.Namespace); len(errs) > 0 {
		return nil, command.BadInputf("--leader-elect-resource-namespace %q: %s", e.Namespace, errs[0])
	}
	if errs := validation.IsDNS1123Subdomain(e.Name); len(errs) > 0 {
		return nil, command.BadInputf("--leader-elect-resource-name %q: %s", e.Name, errs[0])
	}
	// A Lease counts in whole seconds.
	if e.LeaseDuration < time.Second || e.LeaseDuration%time.Second != 0 {
		return nil, command.BadInputf("--leader-elect-lease-duration %v: write whole seconds, 1s or more", e.LeaseDuration)
	}
	if e.RenewDeadline >= e.LeaseDuration {
		return nil, command.BadInputf("--leader-elect-renew-deadline %v: must be less than --leader-elect-lease-duration, which is %v",
			e.RenewDeadline, e.LeaseDuration)
	}
	if e.RetryPeriod <= 0 {
		return nil, command.BadInputf("--leader-elect-retry-period %v: must be more than 0", e.RetryPeriod)
	}
	if float64(e.RetryPeriod)*leaderelection.JitterFactor >= float64(e.RenewDeadline) {
		return nil, command.BadInputf("--leader-elect-retry-period %v: must be less than %v, so that there is time for a second try before --leader-elect-renew-deadline",
			e.RetryPeriod, time.Duration(float64(e.RenewDeadline)/leaderelection.JitterFactor).Truncate(time.Millisecond))
	}
	return &e, nil
}
