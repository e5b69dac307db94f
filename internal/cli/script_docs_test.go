package cli

import (
	"os"
	"regexp"

	"github.com/rogpeppe/go-internal/testscript"
)

// savedBlock is a sentence such as "Save this as `hello.yaml`.", and the next YAML block.
var savedBlock = regexp.MustCompile("(?s)Save this as `([a-z.]+)`.*?\n```yaml\n(.*?)```\n")

// saveBlocks saves the manifests of a page, as the page says: save $DOCS/tutorial.md
func saveBlocks(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: save FILE")
	}
	blocks := savedBlock.FindAllStringSubmatch(ts.ReadFile(args[0]), -1)
	if len(blocks) == 0 {
		ts.Fatalf("%s has nothing to save", args[0])
	}
	for _, block := range blocks {
		ts.Check(os.WriteFile(ts.MkAbs(block[1]), []byte(block[2]), 0o600))
	}
}
