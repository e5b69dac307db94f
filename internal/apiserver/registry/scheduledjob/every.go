package scheduledjob

import (
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// warnRounded warns if the duration of @every is not in whole seconds, because it is rounded.
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
