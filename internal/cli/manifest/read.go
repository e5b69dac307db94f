package manifest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// MaxFileSize bounds a file. The largest object that an API server stores is 1.5 MiB.
const MaxFileSize = 8 << 20

// Sources are where manifests come from.
type Sources struct {
	// Files are paths of files or directories, URLs, or - for Stdin.
	Files []string
	// Kustomize is a directory with a kustomization, if there is one.
	Kustomize string
	Stdin     io.Reader
}

// Read reads and checks all manifests. The error is Problems, and then there are no objects.
func Read(ctx context.Context, from Sources) ([]*Object, error) {
	var objects []*Object
	var problems Problems
	take := func(name string, data []byte, problem *Problem) {
		if problem != nil {
			problems = append(problems, *problem)
			return
		}
		found, wrong := parse(name, data)
		objects = append(objects, found...)
		problems = append(problems, wrong...)
	}
	if from.Kustomize != "" {
		data, problem := build(from.Kustomize)
		take(from.Kustomize, data, problem)
	}
	stdinTaken := false
	for _, named := range from.Files {
		if named == "-" && stdinTaken {
			problems = append(problems, Problem{Place: Place{File: named}, Message: "standard input is named twice", Remedy: "name it once"})
			continue
		}
		stdinTaken = stdinTaken || named == "-"
		files, problem := expand(named)
		if problem != nil {
			problems = append(problems, *problem)
		}
		for _, file := range files {
			data, problem := load(ctx, file, from.Stdin)
			take(file, data, problem)
		}
	}
	problems = append(problems, duplicates(objects)...)
	if err := problems.orNil(); err != nil {
		return nil, err
	}
	return objects, nil
}

// parse turns one file into objects.
func parse(file string, data []byte) ([]*Object, Problems) {
	documents, problems := split(file, data)
	if len(documents) == 0 && len(problems) == 0 {
		return nil, Problems{{Place: Place{File: file}, Message: "contains no object", Remedy: "put a Job manifest into it"}}
	}
	var objects []*Object
	for _, d := range documents {
		found, wrong := decode(d)
		objects = append(objects, found...)
		problems = append(problems, wrong...)
	}
	slices.SortStableFunc(problems, func(a, b Problem) int { return cmp.Compare(a.Document, b.Document) })
	return objects, problems
}

func load(ctx context.Context, file string, stdin io.Reader) ([]byte, *Problem) {
	switch {
	case file == "-":
		return limited(file, stdin)
	case isURL(file):
		return fetch(ctx, file)
	}
	if problem := unreadable(file); problem != nil {
		return nil, problem
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, &Problem{Place: Place{File: file}, Message: "cannot be read", Remedy: cause(err)}
	}
	defer f.Close()
	return limited(file, f)
}

// unreadable checks a path before it is opened, for a better error.
func unreadable(file string) *Problem {
	at := Place{File: file}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Problem{Place: at, Message: "no such file", Remedy: "check the path; - reads standard input"}
	case err != nil:
		return &Problem{Place: at, Message: "cannot be read", Remedy: cause(err)}
	case info.Size() > MaxFileSize:
		return tooLarge(file)
	}
	return nil
}

func limited(file string, r io.Reader) ([]byte, *Problem) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileSize+1))
	if err != nil {
		return nil, &Problem{Place: Place{File: file}, Message: "cannot be read", Remedy: cause(err)}
	}
	if len(data) > MaxFileSize {
		return nil, tooLarge(file)
	}
	return data, nil
}

func tooLarge(file string) *Problem {
	return &Problem{Place: Place{File: file}, Message: fmt.Sprintf("is larger than %d MiB", MaxFileSize>>20),
		Remedy: "split it into several files; large data belongs into a volume"}
}

// cause returns an error without operation and path, which the line contains already.
func cause(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

// duplicates finds objects that the same run would create twice.
func duplicates(objects []*Object) Problems {
	type key struct{ group, kind, namespace, name string }
	first := map[key]Place{}
	var problems Problems
	for _, o := range objects {
		if o.Typed.GetName() == "" {
			continue
		}
		k := key{o.GVK.Group, o.GVK.Kind, o.Typed.GetNamespace(), o.Typed.GetName()}
		if at, seen := first[k]; seen {
			problems = append(problems, Problem{Place: o.Place, Field: "metadata.name",
				Message: fmt.Sprintf("%s %q is in %s, document %d, already", o.GVK.Kind, k.name, at.File, at.Document),
				Remedy:  "rename one of them"})
			continue
		}
		first[k] = o.Place
	}
	return problems
}
