package cli

import "github.com/spf13/cobra"

// comingCommands are names that users may know from the documentation of a later version.
func comingCommands() []*cobra.Command {
	var commands []*cobra.Command
	for name, instead := range map[string]string{
		"why": "stint describe job NAME shows conditions and events",
	} {
		commands = append(commands, &cobra.Command{
			Use: name, Hidden: true, DisableFlagParsing: true,
			RunE: func(*cobra.Command, []string) error {
				return badInputf("stint %s is not there yet: %s", name, instead)
			},
		})
	}
	return commands
}
