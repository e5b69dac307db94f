package apiserver

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/apiserver/registry"
)

func TestTheCellsOfATableDoNotActOnTheTerminal(t *testing.T) {
	const message = "bell\a eight\u009b31m\r\nnext\rlast"
	table, err := tables{registry.Event()}.ConvertToTable(t.Context(), &corev1.Event{Message: message}, nil)
	if err != nil {
		t.Fatal(err)
	}
	row, shown := table.Rows[0], false
	for _, cell := range row.Cells {
		shown = shown || cell == `bell\x07 eight\u009b31m`+"\nnext"+`\x0dlast`
	}
	if !shown {
		t.Errorf("%q", row.Cells)
	}
	if got := row.Object.Object.(*corev1.Event).Message; got != message {
		t.Errorf("the object itself has become %q", got)
	}
}
