package controllerflags

import (
	"slices"
	"testing"

	"github.com/spf13/pflag"
)

func TestControllersAreChosenAsInKubeControllerManager(t *testing.T) {
	known := Offer{All: []string{"job", "garbage-collector", "namespace", "cronjob"}, OnRequest: []string{"cronjob"}}
	for flag, want := range map[string][]string{
		"*":                         {"job", "garbage-collector", "namespace"},
		"job":                       {"job"},
		"namespace,job-controller":  {"job", "namespace"},
		"*,-job":                    {"garbage-collector", "namespace"},
		"-job,*":                    {"garbage-collector", "namespace"},
		"job,-job":                  {"job"},
		"-namespace-controller,job": {"job"},
		"-job":                      {},
		"*,cronjob,-namespace":      {"job", "garbage-collector", "cronjob"},
		"cronjob-controller":        {"cronjob"},
	} {
		var asked []string
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.StringSliceVar(&asked, "controllers", nil, "")
		if err := flags.Parse([]string{"--controllers", flag}); err != nil {
			t.Fatal(err)
		}
		if got, err := known.chosen(asked); err != nil || !slices.Equal(got, want) {
			t.Errorf("--controllers %s: %v, %v, want %v", flag, got, err, want)
		}
	}
}
