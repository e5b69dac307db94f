package differential_test

import (
	"embed"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

//go:embed testdata/scheduledjob
var scheduledJobCorpus embed.FS

const definitionFile = "../../deploy/crds/stint.dev_scheduledjobs.yaml"

// A cluster knows ScheduledJobs by the definition in deploy/crds, stint server by its own code. Both must accept the
// same objects and store them alike.
func TestClusterDefinitionSaysOfScheduledJobsWhatTheServerSays(t *testing.T) {
	bases, sections := scheduledJobSections(t)
	sections = append(sections, scheduledJobMixtures(sections))
	checkCorpus(t, bases, sections)
	cluster, server := kubernetes(t), stint(t)
	cluster.define(t, definitionFile)
	met, left := map[string]bool{}, 0
	for i, s := range sections {
		left += len(s.Cases)
		t.Run(s.Section, func(t *testing.T) {
			namespace := fmt.Sprintf("scheduledjob-%d", i)
			theirs, err := newScene(cluster, &s, bases[s.Base], namespace)
			must(t, err)
			ours, err := newScene(server, &s, bases[s.Base], namespace)
			must(t, err)
			for _, name := range s.names() {
				t.Run(name, func(t *testing.T) {
					left--
					compareVerdicts(t, met, s.label(name), [2]*scene{theirs, ours}, s.Cases[name])
				})
			}
		})
	}
	for name, reason := range definitionCannotSay {
		if !met[name] && left == 0 { // otherwise -run has selected some
			t.Errorf("no difference any more in %q: remove it from the list (%s)", name, reason)
		}
	}
}

func scheduledJobSections(t testing.TB) (bases map[string]any, sections []section) {
	t.Helper()
	read := func(name string) []byte {
		text, err := scheduledJobCorpus.ReadFile("testdata/scheduledjob/" + name)
		must(t, err)
		return text
	}
	must(t, yaml.UnmarshalStrict(read("bases.yaml"), &bases))
	for _, file := range []string{"create.yaml", "update.yaml", "status.yaml"} {
		for document := range strings.SplitSeq(string(read(file)), "\n---\n") {
			var s section
			if err := yaml.UnmarshalStrict([]byte(document), &s); err != nil {
				t.Fatalf("%s: %v in\n%s", file, err, document)
			}
			sections = append(sections, s)
		}
	}
	return bases, sections
}

// scheduledJobMixtures are creations with two to four changes at once, at random.
func scheduledJobMixtures(sections []section) section {
	var changes []map[string]any
	for _, s := range sections {
		for _, name := range s.names() {
			change, ok := s.Cases[name].(map[string]any)
			if ok && s.Request == create && definitionCannotSay[s.label(name)] == "" {
				changes = append(changes, change)
			}
		}
	}
	mixed := section{Section: mixturesPrefix, Request: create, Base: "scheduledjob", Cases: map[string]any{}}
	mix(&mixed, changes, *mixtures, rand.New(rand.NewPCG(*seed, 0)))
	return mixed
}

// compareVerdicts sends the change to both servers. What they accept must be stored alike.
func compareVerdicts(t *testing.T, met map[string]bool, name string, scenes [2]*scene, change any) {
	var replies [2]reply
	var objects [2]any
	for i, s := range scenes {
		var err error
		replies[i], err = s.send(change)
		must(t, err)
		a, err := newAnswer(replies[i])
		must(t, err)
		objects[i] = sparse(a.object)
	}
	var gaps []gap
	if t, o := verdict(replies[0].code), verdict(replies[1].code); t != o {
		gaps = append(gaps, gap{"code", t, o})
	} else if t/100 == 2 {
		gaps = objectGaps("", objects[0], objects[1])
	}
	if len(gaps) > 0 && definitionCannotSay[name] != "" {
		met[name] = true
		return
	}
	for _, g := range gaps {
		t.Errorf("%s\nKubernetes %.1500s\nStint      %.1500s", g, replies[0].body, replies[1].body)
	}
}

// verdict makes code 422 the same as 400: a definition finds a wrong type by validation, Go's types find it when the
// body is decoded.
func verdict(code int) int {
	if code == http.StatusUnprocessableEntity {
		return http.StatusBadRequest
	}
	return code
}

// sparse removes empty values, since Go types have empty structs where a definition has nothing. It removes
// managedFields too, which list them.
func sparse(v any) any {
	switch v := v.(type) {
	case map[string]any:
		left := map[string]any{}
		for key, value := range v {
			if s := sparse(value); s != nil && key != "managedFields" {
				left[key] = s
			}
		}
		if len(left) > 0 {
			return left
		}
		return nil
	case []any:
		var left []any
		for _, element := range v {
			left = append(left, sparse(element))
		}
		if len(left) > 0 {
			return left
		}
		return nil
	case string:
		if v == "" {
			return nil
		}
	}
	return v
}

// definitionCannotSay holds every case in which the two differ, and why.
var definitionCannotSay = map[string]string{
	"ScheduledJob: the status: overrides of 5000 bytes":          "a definition bounds every text and list, not their sum: etcd refuses what is too much",
	"ScheduledJob: schedules: a day that is not there":           "a pattern knows no calendar: the controller reports it (condition InvalidSchedule)",
	"ScheduledJob: the status: a day that is not there":          "a pattern knows no calendar: the controller drops such a run and reports it",
	"ScheduledJob: selectors: an expression that does not match": "rules cannot check all operators at a bounded cost: creating the Job fails, and the run says why",
	"ScheduledJob: templates: a mount without a volume":          "rules for all of a pod would cost too much: creating the Job fails, and the run says why",
	"ScheduledJob: templates: resources as a number":             "a definition stores quantities as they are written",
	"ScheduledJob: templates: resources in other words":          "a definition stores quantities as they are written",
	"ScheduledJob: strategic patches: a container":               "kinds that are defined know no strategic patches; kubectl apply and edit do without",
}
