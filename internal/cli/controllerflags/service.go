// Package controllerflags has the flags of the commands that run controllers: stint server, stint controller and stint run.
package controllerflags

import (
	"net"

	"github.com/spf13/pflag"

	"github.com/stint-dev/stint/internal/cli/command"
)

// Service are the flags of all commands that run controllers until they are stopped.
type Service struct {
	Controllers   []string
	MetricsListen string
	Verbosity     int
}

// Add defines the flags. The help lists the controllers.
func (f *Service) Add(flags *pflag.FlagSet, controllers Offer) {
	flags.StringSliceVar(&f.Controllers, "controllers", []string{"*"},
		"controllers to run: * for all, NAME for one, -NAME for all but one; "+controllers.String())
	flags.StringVar(&f.MetricsListen, "metrics-bind-address", "",
		"address to serve /metrics, /healthz and /readyz on, over plain HTTP (default none)")
	flags.IntVarP(&f.Verbosity, "v", "v", 0, "how much to log, 0 to 10")
}

// Check checks the flags, and replaces Controllers by the names of the chosen controllers.
func (f *Service) Check(controllers Offer) (err error) {
	if f.MetricsListen != "" {
		if err := CheckAddress("metrics-bind-address", f.MetricsListen, "127.0.0.1:8080"); err != nil {
			return err
		}
	}
	if f.Verbosity < 0 || f.Verbosity > 10 {
		return command.BadInputf("--v %d: write a number from 0 to 10", f.Verbosity)
	}
	f.Controllers, err = controllers.chosen(f.Controllers)
	return err
}

// CheckAddress refuses an address that a server cannot listen on.
func CheckAddress(flag, address, example string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return command.BadInputf("--%s %q: write HOST:PORT, such as %s", flag, address, example)
	}
	return nil
}
