package cli

import "testing"

func TestFormatsForPeople(t *testing.T) {
	for format, want := range map[string]bool{
		"": true, "wide": true, "plaintext": true, "plaintext-openapiv2": true, "custom-columns=A:.a": true,
		"json": false, "yaml": false, "name": false, "jsonpath={.a}": false,
	} {
		if got := isForPeople(format); got != want {
			t.Errorf("%q is for people: %t, want %t", format, got, want)
		}
	}
}
