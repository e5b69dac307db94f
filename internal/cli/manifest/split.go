package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// document is one document of a file, as JSON.
type document struct {
	Place
	json []byte
}

// chunk is the text between two separators of a YAML stream.
type chunk struct {
	text []byte
	// line is the number of lines before it in the file.
	line int
}

// split divides a file into documents. Documents that contain only comments do not count.
func split(file string, data []byte) ([]document, Problems) {
	var documents []document
	var problems Problems
	number := 0
	for _, c := range chunks(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))) {
		if blank(c.text) {
			continue
		}
		texts, err := toJSON(c)
		if err != nil {
			number++
			problems = append(problems, Problem{Place: Place{File: file, Document: number}, Message: err.Error(),
				Remedy: "correct it"})
			continue
		}
		for _, text := range texts {
			if string(text) == "null" {
				continue
			}
			number++
			documents = append(documents, document{Place{File: file, Document: number}, text})
		}
	}
	return documents, problems
}

// chunks divides a YAML stream at the document separators.
func chunks(data []byte) []chunk {
	var out []chunk
	current := chunk{}
	line := 0
	for raw := range bytes.Lines(data) {
		line++
		if isSeparator(raw) {
			out = append(out, current)
			current = chunk{line: line}
			continue
		}
		current.text = append(current.text, raw...)
	}
	return append(out, current)
}

func isSeparator(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("---"))
	if !ok {
		return bytes.Equal(bytes.TrimRight(line, "\r\n"), []byte("..."))
	}
	rest = bytes.TrimSpace(rest)
	return len(rest) == 0 || rest[0] == '#'
}

func blank(text []byte) bool {
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// toJSON converts a chunk: one YAML document, or JSON objects one after the other.
func toJSON(c chunk) ([]json.RawMessage, error) {
	if trimmed := bytes.TrimSpace(c.text); trimmed[0] == '{' {
		if texts, err := jsonStream(trimmed); err == nil {
			return texts, checkDuplicateFields(texts)
		}
	}
	text, err := yaml.YAMLToJSONStrict(c.text)
	if err != nil {
		return nil, syntaxError(err, c.line)
	}
	return []json.RawMessage{text}, nil
}

func jsonStream(data []byte) ([]json.RawMessage, error) {
	var texts []json.RawMessage
	decoder := json.NewDecoder(bytes.NewReader(data))
	for {
		var text json.RawMessage
		err := decoder.Decode(&text)
		if errors.Is(err, io.EOF) {
			return texts, nil
		}
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
}

// checkDuplicateFields refuses fields that are given twice; the YAML parser does so by itself.
func checkDuplicateFields(texts []json.RawMessage) error {
	for _, text := range texts {
		var tree any
		strict, err := kjson.UnmarshalStrict(text, &tree)
		if err := errors.Join(append(strict, err)...); err != nil {
			return fmt.Errorf("is not valid JSON: %w", err)
		}
	}
	return nil
}

var yamlLine = regexp.MustCompile(`line (\d+)`)

// syntaxError counts lines from the top of the file rather than of the document, and drops the parser's own prefixes.
func syntaxError(err error, before int) error {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:\n  "} {
		text = strings.TrimPrefix(text, prefix)
	}
	text = yamlLine.ReplaceAllStringFunc(text, func(match string) string {
		n, convErr := strconv.Atoi(strings.TrimPrefix(match, "line "))
		if convErr != nil {
			return match
		}
		return fmt.Sprintf("line %d", n+before)
	})
	if strings.Contains(text, "found character that cannot start any token") {
		text += " (YAML is indented with spaces, not tabs)"
	}
	return fmt.Errorf("is not valid YAML: %s", text)
}
