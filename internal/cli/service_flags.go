package cli

import (
	"net"

	"github.com/spf13/pflag"
)

// serviceFlags are those of all commands that run controllers until they are stopped.
type serviceFlags struct {
	controllers   []string
	metricsListen string
	verbosity     int
}

func (f *serviceFlags) add(flags *pflag.FlagSet, controllers offer) {
	flags.StringSliceVar(&f.controllers, "controllers", []string{"*"},
		"controllers to run: * for all, NAME for one, -NAME for all but one; "+controllers.String())
	flags.StringVar(&f.metricsListen, "metrics-bind-address", "",
		"address to serve /metrics, /healthz and /readyz on, over plain HTTP (default none)")
	flags.IntVarP(&f.verbosity, "v", "v", 0, "how much to log, 0 to 10")
}

// check replaces the words of --controllers by names.
func (f *serviceFlags) check(controllers offer) (err error) {
	if f.metricsListen != "" {
		if err := checkAddress("metrics-bind-address", f.metricsListen, "127.0.0.1:8080"); err != nil {
			return err
		}
	}
	if f.verbosity < 0 || f.verbosity > 10 {
		return badInputf("--v %d: write a number from 0 to 10", f.verbosity)
	}
	f.controllers, err = controllers.chosen(f.controllers)
	return err
}

// checkAddress lets pass what a server may listen on.
func checkAddress(flag, address, example string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return badInputf("--%s %q: write HOST:PORT, such as %s", flag, address, example)
	}
	return nil
}
