package node

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"
)

func TestWhatAContainerLeavesCanBeShownAsYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.OneOf(
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
			rapid.StringOf(rapid.RuneFrom([]rune{0, 1, '\n', '\t', 0x1b, 0x7f, 0x85, 0x9b, 0xa0, 0x2028, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1f600, 'a'})),
		).Draw(t, "message")
		text, err := json.Marshal(map[string]string{"message": validUTF8YAML(message)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := yaml.JSONToYAML(text); err != nil {
			t.Fatalf("%q: %v", message, err)
		}
	})
	for _, message := range []string{"", "plain", "two\nlines", "colour \x1b[31m", "日本 ✓"} {
		if got := validUTF8YAML(message); got != message {
			t.Errorf("%q became %q", message, got)
		}
	}
}
