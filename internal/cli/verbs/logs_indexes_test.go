package verbs

import (
	"slices"
	"strings"
	"testing"

	"github.com/stint-dev/stint/test/wrappers"
)

func TestParseIndexes(t *testing.T) {
	job := wrappers.MakeJob("array").Indexed().Completions(10).Obj()
	for text, tc := range map[string]struct {
		want  []int64
		wrong string
	}{
		"7":                        {want: []int64{7}},
		"0-3":                      {want: []int64{0, 1, 2, 3}},
		"0,2,5-7":                  {want: []int64{0, 2, 5, 6, 7}},
		"3, 1":                     {want: []int64{3, 1}},
		"10":                       {wrong: "there is no index 10: job array has indexes 0 to 9"},
		"8-4000000000000000000000": {wrong: `"8-4000000000000000000000" is neither an index nor a range`},
		"0-2000000000":             {wrong: "there is no index 2000000000"},
		"3-1":                      {wrong: `--index 3-1: "3-1" is neither an index nor a range`},
		"-1":                       {wrong: `--index -1: "-1" is neither an index nor a range`},
		"":                         {wrong: `"" is neither an index nor a range`},
		"1,":                       {wrong: `"" is neither an index nor a range`},
		"a":                        {wrong: `"a" is neither an index nor a range: write numbers from 0 on`},
	} {
		t.Run(text, func(t *testing.T) {
			got, err := parseIndexes(text, job)
			if !slices.Equal(got, tc.want) || (err == nil) != (tc.wrong == "") || err != nil && !strings.Contains(err.Error(), tc.wrong) {
				t.Errorf("got %v, %v; want %v, %s", got, err, tc.want, tc.wrong)
			}
		})
	}
}

func TestParseIndexesIsBounded(t *testing.T) {
	job := wrappers.MakeJob("array").Indexed().Completions(1 << 30).Obj()
	if _, err := parseIndexes("0,7-1000000000", job); err == nil || !strings.Contains(err.Error(), "names more than 100000 indexes") {
		t.Errorf("got %v", err)
	}
}
