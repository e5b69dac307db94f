package scheduledjob

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// warnRounded tells of the parts of a second that @every may say, and that are dropped.
func warnRounded(timeSpec string, due []time.Time, p *field.Path) []string {
	text, found := strings.CutPrefix(timeSpec, "@every ")
	asked, err := time.ParseDuration(text)
	if !found || err != nil || len(due) < 2 {
		return nil
	}
	apart := due[1].Sub(due[0])
	if apart == asked {
		return nil
	}
	return []string{fmt.Sprintf("%s: due times are whole seconds: runs are %s apart", p, apart)}
}
