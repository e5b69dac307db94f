package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	folders := os.Args[1:]
	if len(folders) == 0 {
		folders = []string{"."}
	}
	found := 0
	for _, folder := range folders {
		n, err := checkFolder(folder)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		found += n
	}
	if found > 0 {
		fmt.Fprintf(os.Stderr, "%d comments have a word for which docs/glossary.md has a better one\n", found)
		os.Exit(1)
	}
}

// checkFolder prints what it finds in the Go files below folder, and returns how much that is.
func checkFolder(folder string) (found int, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && path != folder && strings.HasPrefix(entry.Name(), ".") {
			return fs.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		lines, err := check(path, source)
		for _, line := range lines {
			fmt.Println(line)
		}
		found += len(lines)
		return err
	})
	return found, err
}

// check returns a line for each word of the dialect in the comments of a file.
func check(path string, source []byte) (lines []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments)
	if err != nil || ast.IsGenerated(file) {
		return nil, err
	}
	for _, group := range file.Comments {
		text := group.Text()
		for _, d := range dialect {
			for _, at := range d.words.FindAllStringIndex(text, -1) {
				line := files.Position(group.Pos()).Line + strings.Count(text[:at[0]], "\n")
				lines = append(lines, fmt.Sprintf("%s:%d: %q: say %s", path, line, text[at[0]:at[1]], d.say))
			}
		}
	}
	return lines, nil
}
