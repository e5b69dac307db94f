package target

import (
	"os/exec"
	"testing"
)

func TestCommand(t *testing.T) {
	for sentence, tc := range map[string]struct {
		caller    Caller
		namespace string
		words     []string
		want      string
	}{
		"as short as it can be":     {Caller{Namespace: "default"}, "default", []string{"why", "pi"}, "stint why pi"},
		"another namespace":         {Caller{Namespace: "default"}, "team", []string{"why", "pi"}, "stint why pi -n team"},
		"that of the context":       {Caller{Namespace: "team"}, "team", []string{"why", "pi"}, "stint why pi"},
		"no namespace":              {Caller{Namespace: "default"}, "", []string{"server"}, "stint server"},
		"the flags that were given": {Caller{Flags: []string{"--data-dir", "/srv/a b's"}, Namespace: "default"}, "x", []string{"get", "jobs"}, `stint get jobs -n x --data-dir '/srv/a b'\''s'`},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := tc.caller.Command(tc.namespace, tc.words...); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

func TestAShellTakesAWordAsItIs(t *testing.T) {
	for _, word := range []string{"", "a b", "it's", `"$HOME"`, "*", "a;b", "~", "é", "-n", "#x"} {
		out, err := exec.Command("sh", "-c", "printf %s "+ShellWord(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q came out as %q (%v)", word, out, err)
		}
	}
}
