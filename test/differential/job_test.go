package differential_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// jobDifferences are those of Jobs.
var jobDifferences = []difference{
	{
		cases:  []string{"table: a Job: shown", "table: a work queue: shown", "table: a work queue of one: shown"},
		gaps:   `object cells\[1\]`,
		reason: "a Job none of whose pods runs is not shown as running",
	},
	{gaps: `object (metadata\.managedFields\[\d+\]\.fieldsV1\.f:spec\.f:manualSelector|spec\.manualSelector)`,
		reason: "A2: manualSelector stays unset, so that the reader of a Job does not wonder whether to write it"},
	{
		cases:  []string{"update: a Job: manualSelector false"},
		gaps:   `object metadata\.(generation|managedFields)`,
		reason: "A2: manualSelector that is set to false was unset before, so this is a change",
	},
	{
		cases: []string{
			"create: selector: a copy of a Job",
			"create: selector: another name in both labels",
			"create: selector: another prefixed name as a label",
			"create: selector: another uid as a label",
			"create: selector: another uid as a prefixed label",
			"create: selector: another uid in selector and labels",
			"create: selector: another uid in the old selector",
			"create: selector: another uid in the selector",
		},
		gaps:   `field spec\.selector|field spec\.template\.metadata\.labels.*|warning spec\.selector`,
		mixed:  true,
		reason: "A6: selector and labels that were generated for another Job are replaced, with a warning, where Kubernetes refuses them",
	},
	{
		cases:  []string{"create: success policy without completions: *"},
		gaps:   `code|reason|field spec\..*`,
		reason: "the handler of Kubernetes 1.36 panics over a success policy without completions; Stint names the field",
	},
	{
		gaps:   `warning (child pods are preserved by default|the pods of deleted jobs stay by default).*`,
		cases:  []string{"delete: a Job: nothing", "delete: a Job: a grace period"},
		reason: "the warning about pods that stay says the same in other words",
	},
	{
		cases: []string{"create: names: of 64 characters", "create: limits of length: a name of 253 characters"},
		gaps:  `field metadata\.name`,
		mixed: true,
		reason: "A9: a name too long for the label job-name is reported as what it is, beside the error about the label, " +
			"which its author has not written",
	},
	{
		cases:  []string{"create: metadata: an event as owner", "create: metadata: owners without *"},
		gaps:   `field metadata\.ownerReferences.*`,
		reason: "the library of Kubernetes 1.37 says which owner is wrong: ownerReferences[0].uid for ownerReferences.uid",
	},
	{
		cases:  []string{"create: fields that are newer than Kubernetes 1.36: *", "update: a Job: scheduling"},
		gaps:   `field spec\.scheduling|warning unknown field .*`,
		reason: "spec.scheduling is new in 1.37 and alpha: it is refused, not dropped",
	},
	{
		cases: []string{
			"create: annotations of Stint: bad, *",
			"update: a Job: a bad annotation of Stint",
		},
		gaps:   `field metadata\.annotations\[stint\.dev/.*\]`,
		mixed:  true,
		reason: "an annotation of Stint asks for something: a value that asks for nothing is refused, not ignored",
	},
}

type object = map[string]any

// exampleSection has every Job of the examples that users start from.
func exampleSection(t testing.TB) section {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yaml")
	must(t, err)
	s := section{Section: "examples", Request: create, Base: "job", Cases: object{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for i, document := range strings.Split(string(text), "\n---\n") {
			if strings.Contains("\n"+document, "\nkind: Job\n") {
				s.Cases[fmt.Sprintf("%s, document %d", filepath.Base(file), i)] = document
			}
		}
	}
	return s
}

// jobSections are the cases about Jobs that are too long to be written down.
func jobSections() []section {
	indexed := func(fields object) object {
		for key, value := range (object{"completionMode": "Indexed", "completions": 50_000, "parallelism": 5}) {
			fields[key] = value
		}
		return object{"spec": fields}
	}
	succeeding := func(rule object, n int) object {
		return indexed(object{"successPolicy": object{"rules": slices.Repeat([]any{rule}, n)}})
	}
	named := func(length int) object { return object{"metadata": object{"name": strings.Repeat("a", length)}} }
	annotated := func(length int) object {
		return object{"metadata": object{"annotations": object{"a": strings.Repeat("x", length)}}}
	}
	return []section{{
		Section: "create: limits of length", Request: create, Base: "job",
		Cases: object{
			"20 rules of a failure policy":       failing(slices.Repeat([]any{failingOn(1)}, 20)...),
			"21 rules of a failure policy":       failing(slices.Repeat([]any{failingOn(1)}, 21)...),
			"255 exit codes":                     failing(failingOn(255)),
			"256 exit codes":                     failing(failingOn(256)),
			"20 pod conditions":                  failing(failingIf(20)),
			"21 pod conditions":                  failing(failingIf(21)),
			"20 rules of a success policy":       succeeding(object{"succeededCount": 1}, 20),
			"21 rules of a success policy":       succeeding(object{"succeededCount": 1}, 21),
			"64 KiB of succeeded indexes":        succeeding(object{"succeededIndexes": indexes(64 << 10)}, 1),
			"more than 64 KiB of indexes":        succeeding(object{"succeededIndexes": indexes(64<<10 + 1)}, 1),
			"a name of 253 characters":           named(253),
			"a name of 254 characters":           named(254),
			"annotations of 256 KiB":             annotated(256<<10 - 1),
			"annotations of more than 256 KiB":   annotated(256 << 10),
			"a body of more than 3 MiB":          annotated(3<<20 + 1),
			"a label of 63 characters":           object{"metadata": object{"labels": object{strings.Repeat("a", 63): "x"}}},
			"a label of 64 characters":           object{"metadata": object{"labels": object{strings.Repeat("a", 64): "x"}}},
			"a manual selector and a long name":  merged(named(253), selectingByHand),
			"a manual selector and a longer one": merged(named(254), selectingByHand),
		},
	}, {
		Section: "create: a long field manager", Request: create, Base: "job",
		Query: map[string]string{"fieldManager": strings.Repeat("a", 129)},
		Cases: object{"of 129 characters": object{}},
	}}
}

var selectingByHand = object{"spec": object{
	"manualSelector": true,
	"selector":       object{"matchLabels": object{"a": "b"}},
	"template":       object{"metadata": object{"labels": object{"a": "b"}}},
}}

// failing returns a change that sets a failure policy of these rules.
func failing(rules ...any) object {
	return object{"spec": object{"podFailurePolicy": object{"rules": rules}}}
}

// failingOn returns a rule with n exit codes.
func failingOn(n int) object {
	var codes []any
	for i := range n {
		codes = append(codes, i+1)
	}
	return object{"action": "FailJob", "onExitCodes": object{"operator": "In", "values": codes}}
}

// failingIf returns a rule with n conditions.
func failingIf(n int) object {
	var conditions []any
	for i := range n {
		conditions = append(conditions, object{"type": fmt.Sprintf("example.com/c%d", i)})
	}
	return object{"action": "Count", "onPodConditions": conditions}
}

// indexes returns a list of indexes that has exactly that many characters.
func indexes(length int) string {
	text := "0"
	for i := 10_000; len(text)+6 <= length; i++ {
		text += fmt.Sprintf(",%d", i)
	}
	// Zeros in front of the first index change nothing but the length.
	return strings.Repeat("0", length-len(text)) + text
}
