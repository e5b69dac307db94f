package targetflags

import (
	"path/filepath"
	"testing"
	"time"
)

// The host process and containers have other working directories than the command.
func TestTheDataDirectoryIsAbsolute(t *testing.T) {
	t.Chdir(t.TempDir())
	want, err := filepath.Abs("data")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ flag, env string }{
		"named by the flag":                   {flag: "data", env: "other"},
		"named by the environment":            {env: "data"},
		"named by the flag, with a detour":    {flag: "./x/../data/"},
		"named by the flag, absolute already": {flag: want},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("STINT_DATA_DIR", c.env)
			options, err := (&Flags{DataDir: c.flag, start: StartTimeout(time.Minute)}).Options()
			if err != nil {
				t.Fatal(err)
			}
			if options.DataDir != want {
				t.Errorf("data directory %q, want %q", options.DataDir, want)
			}
		})
	}
}
