package differential_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// answer is the part of a reply that is compared. It has nothing that differs between two runs of the same server.
type answer struct {
	code   int
	reason string
	// fields are the fields that the error names, each once.
	fields map[string]bool
	// types are the kinds of the errors, by field.
	types map[string]string
	// messages are the error's, compared for the report only.
	messages map[string]bool
	// warnings are shortened to the field they speak of.
	warnings map[string]bool
	object   any
}

// volatile are fields that differ with every creation.
var volatile = []string{"uid", "creationTimestamp", "resourceVersion"}

func newAnswer(r reply) (answer, error) {
	a := answer{code: r.code, fields: map[string]bool{}, types: map[string]string{}, messages: map[string]bool{}, warnings: map[string]bool{}}
	for _, warning := range r.warnings {
		a.warnings[shortWarning(warning)] = true
	}
	var body map[string]any
	if err := json.Unmarshal(r.body, &body); err != nil {
		if r.code/100 == 2 {
			return a, fmt.Errorf("%w in %s", err, r.body)
		}
		a.messages[string(r.body)] = true // The handler has crashed.
		return a, nil
	}
	switch body["kind"] {
	case "Status":
	case "Table":
		a.object = normalizedTable(body)
		return a, nil
	default:
		a.object = normalized(body)
		return a, nil
	}
	a.reason, _ = body["reason"].(string)
	details, _ := body["details"].(map[string]any)
	causes, _ := details["causes"].([]any)
	for _, cause := range causes {
		c := cause.(map[string]any)
		where, _ := c["field"].(string)
		a.fields[where] = true
		a.messages[fmt.Sprintf("%s: %s", where, c["message"])] = true
		if kind := fmt.Sprint(c["reason"]); !strings.Contains(a.types[where], kind) {
			kinds := append(strings.Fields(a.types[where]), kind)
			slices.Sort(kinds)
			a.types[where] = strings.Join(kinds, " ")
		}
	}
	if len(causes) == 0 {
		a.messages[fmt.Sprint(body["message"])] = true
	}
	return a, nil
}

var warningOfField = regexp.MustCompile(`^([a-z][A-Za-z]*[.\[][^ ]*|spec): `)

// shortWarning takes a Warning header, 299 - "text", apart.
func shortWarning(header string) string {
	text := strings.TrimSuffix(strings.TrimPrefix(header, `299 - "`), `"`)
	if match := warningOfField.FindStringSubmatch(text); match != nil {
		return match[1]
	}
	return text
}

// generatedPrefix is the length to which a server cuts generateName.
const generatedPrefix = 58

// normalized replaces what the server generates: the UID wherever it is, and a generated name.
func normalized(object map[string]any) any {
	metadata := object["metadata"].(map[string]any)
	uid, _ := metadata["uid"].(string)
	name, _ := metadata["name"].(string)
	prefix, _ := metadata["generateName"].(string)
	text := string(encode(object))
	if uid != "" {
		text = strings.ReplaceAll(text, uid, "UID")
	}
	prefix = prefix[:min(len(prefix), generatedPrefix)]
	if prefix != "" && strings.HasPrefix(name, prefix) {
		text = strings.ReplaceAll(text, `"`+name+`"`, `"`+prefix+`GENERATED"`)
	}
	var result map[string]any
	if err := json.Unmarshal([]byte(text), &result); err != nil {
		panic(err) // It was encoded just before.
	}
	metadata = result["metadata"].(map[string]any)
	for _, key := range volatile {
		delete(metadata, key)
	}
	if metadata["deletionTimestamp"] != nil {
		metadata["deletionTimestamp"] = "NOW"
	}
	if status, _ := result["status"].(map[string]any); status["lastPhaseTransitionTime"] != nil {
		status["lastPhaseTransitionTime"] = "SET"
	}
	managers, _ := metadata["managedFields"].([]any)
	for _, manager := range managers {
		delete(manager.(map[string]any), "time")
	}
	// Servers sort them by time.
	slices.SortFunc(managers, func(a, b any) int { return strings.Compare(string(encode(a)), string(encode(b))) })
	return result
}

// normalizedTable is what kubectl shows of a table: the columns and the cells, but no age.
func normalizedTable(body map[string]any) any {
	var columns, cells []any
	definitions := body["columnDefinitions"].([]any)
	for _, definition := range definitions {
		d := definition.(map[string]any)
		delete(d, "description")
		columns = append(columns, d)
	}
	for _, row := range body["rows"].([]any) {
		for i, cell := range row.(map[string]any)["cells"].([]any) {
			if definitions[i].(map[string]any)["name"] != "Age" {
				cells = append(cells, cell)
			}
		}
	}
	return map[string]any{"columns": columns, "cells": cells}
}

// gap is a difference between two answers.
type gap struct {
	// about is "code", "reason", "field PATH", "type PATH", "warning PATH" or "object PATH".
	about                  string
	fromKubernetes, fromUs any
}

func (g gap) String() string {
	return fmt.Sprintf("%s: Kubernetes %v, Stint %v", g.about, shown(g.fromKubernetes), shown(g.fromUs))
}

func shown(v any) string {
	if v == nil {
		return "–"
	}
	text := fmt.Sprint(v)
	if len(text) > 300 {
		text = text[:300] + "…"
	}
	return text
}

// gaps compares the answer of Kubernetes with ours.
func gaps(theirs, ours answer) []gap {
	var all []gap
	if theirs.code != ours.code {
		all = append(all, gap{"code", theirs.code, ours.code})
	}
	if theirs.reason != ours.reason {
		all = append(all, gap{"reason", theirs.reason, ours.reason})
	}
	all = append(all, setGaps("field", theirs.fields, ours.fields)...)
	for _, where := range union(theirs.types, ours.types) {
		if t, o := theirs.types[where], ours.types[where]; t != o && t != "" && o != "" {
			all = append(all, gap{"type " + where, t, o})
		}
	}
	all = append(all, setGaps("warning", theirs.warnings, ours.warnings)...)
	if theirs.object != nil && ours.object != nil {
		all = append(all, objectGaps("", theirs.object, ours.object)...)
	}
	return all
}

func setGaps(about string, theirs, ours map[string]bool) []gap {
	var all []gap
	for _, element := range union(theirs, ours) {
		if theirs[element] != ours[element] {
			all = append(all, gap{about + " " + element, theirs[element], ours[element]})
		}
	}
	return all
}

func union[V any](a, b map[string]V) []string {
	both := maps.Clone(a)
	maps.Copy(both, b)
	return slices.Sorted(maps.Keys(both))
}

func objectGaps(path string, theirs, ours any) []gap {
	if reflect.DeepEqual(theirs, ours) {
		return nil
	}
	t, isMap := theirs.(map[string]any)
	o, too := ours.(map[string]any)
	if isMap && too {
		var all []gap
		for _, key := range union(t, o) {
			all = append(all, objectGaps(path+"."+key, t[key], o[key])...)
		}
		return all
	}
	tl, isList := theirs.([]any)
	ol, too := ours.([]any)
	if isList && too && len(tl) == len(ol) {
		var all []gap
		for i := range tl {
			all = append(all, objectGaps(fmt.Sprintf("%s[%d]", path, i), tl[i], ol[i])...)
		}
		return all
	}
	return []gap{{"object " + strings.TrimPrefix(path, "."), theirs, ours}}
}
