package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// vulnerability is one whose function is called.
type vulnerability struct {
	id, module, version, function, fixed string
}

func (v vulnerability) String() string {
	fixed := "there is no fix"
	if v.fixed != "" {
		fixed = "fixed in " + v.fixed
	}
	return fmt.Sprintf("%s in %s %s, by a call of %s (%s): https://pkg.go.dev/vuln/%s", v.id, v.module, v.version, v.function, fixed, v.id)
}

// message is the part of a message of govulncheck that counts here. One with a config comes first.
type message struct {
	Config  *struct{} `json:"config"`
	Finding *struct {
		OSV          string  `json:"osv"`
		FixedVersion string  `json:"fixed_version"`
		Trace        []frame `json:"trace"`
	} `json:"finding"`
}

type frame struct {
	Module   string `json:"module"`
	Version  string `json:"version"`
	Package  string `json:"package"`
	Receiver string `json:"receiver"`
	Function string `json:"function"`
}

// readCalled returns each vulnerability once. A finding without a function only says that the module or package is there.
func readCalled(r io.Reader) ([]vulnerability, error) {
	var called []vulnerability
	seen, begun := map[string]bool{}, false
	for decoder := json.NewDecoder(r); ; {
		var m message
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) && begun {
			return called, nil
		}
		if err != nil {
			return nil, err
		}
		begun = begun || m.Config != nil
		f := m.Finding
		if f == nil || len(f.Trace) == 0 || f.Trace[0].Function == "" || seen[f.OSV] {
			continue
		}
		seen[f.OSV] = true
		first := f.Trace[0]
		called = append(called, vulnerability{f.OSV, first.Module, first.Version, first.name(), f.FixedVersion})
	}
}

func (f frame) name() string {
	if f.Receiver != "" {
		return f.Package + "." + f.Receiver + "." + f.Function
	}
	return f.Package + "." + f.Function
}
