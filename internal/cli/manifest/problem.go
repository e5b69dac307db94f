package manifest

import (
	"fmt"
	"strings"
)

// Problem is one problem of the input, printed on one line:
//
//	file: document 2: spec.template.spec.restartPolicy: what is wrong: remedy
type Problem struct {
	Place
	Field   string
	Message string
	Remedy  string
}

func (p Problem) String() string {
	parts := []string{p.File}
	if p.Document > 0 {
		parts = append(parts, fmt.Sprintf("document %d", p.Document))
	}
	if field := join(p.Item, p.Field); field != "" {
		parts = append(parts, field)
	}
	parts = append(parts, p.Message)
	if p.Remedy != "" {
		parts = append(parts, p.Remedy)
	}
	return strings.ReplaceAll(strings.Join(parts, ": "), "\n", " ")
}

// Problems are all problems of the input.
type Problems []Problem

func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// orNil returns a nil error for an empty list.
func (ps Problems) orNil() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// join appends a field to a path: "spec" + "template", "items" + "[2]".
func join(path, field string) string {
	switch {
	case path == "":
		return field
	case field == "" || strings.HasPrefix(field, "["):
		return path + field
	}
	return path + "." + field
}
