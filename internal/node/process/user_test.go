package process_test

import (
	"testing"

	"github.com/stint-dev/stint/test/unprivileged"
)

func TestAsAnUnprivilegedUser(t *testing.T) { unprivileged.Run(t, ".") }

func TestImagesWithSubordinateIDs(t *testing.T) {
	unprivileged.WithSubordinateIDs(t, "Image|TerminationMessage|Output|User")
}
