package server_test

import (
	"testing"

	"github.com/stint-dev/stint/test/unprivileged"
)

func TestClaimsOfAnUnprivilegedUser(t *testing.T) {
	unprivileged.Run(t, "TheDataOfAClaim|ADeletedClaim|ARetainedVolume|ALinkInAVolume")
}
