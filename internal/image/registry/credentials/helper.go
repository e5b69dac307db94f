package credentials

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

const (
	// helperTimeout is the timeout of a helper program: enough to ask a cloud service, but not a user.
	helperTimeout = 30 * time.Second
	// helperOutput bounds what is kept of its output, in bytes.
	helperOutput = 256 << 10
)

// runHelper runs docker-credential-<name> get. It returns nil if the program has nothing for the server. What the program prints
// never becomes part of an error, since it may be the secret.
func runHelper(ctx context.Context, name, server string) (*Credential, error) {
	program := "docker-credential-" + name
	if strings.ContainsAny(name, `/\`) {
		return nil, fmt.Errorf("%q is not the name of a credential helper", name)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return nil, fmt.Errorf("%s is not in PATH", program)
	}
	ctx, cancel := context.WithTimeout(ctx, helperTimeout)
	defer cancel()
	out := &capped{limit: helperOutput}
	cmd := exec.CommandContext(ctx, path, "get")
	cmd.Stdin, cmd.Stdout = strings.NewReader(server), out
	// Do not wait longer for a child of the program that keeps the pipe open after the program has ended.
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() == nil && strings.Contains(out.kept.String(), "credentials not found") {
			return nil, nil
		}
		return nil, fmt.Errorf("%s get: %w", program, err)
	}
	return parseHelperOutput(program, out)
}

func parseHelperOutput(program string, out *capped) (*Credential, error) {
	var got struct{ Username, Secret string }
	if out.cut || json.Unmarshal(out.kept.Bytes(), &got) != nil {
		return nil, fmt.Errorf("%s get: %w", program, errors.New("the answer is not a credential"))
	}
	var c Credential
	switch {
	case got.Secret == "":
		return nil, nil
	case got.Username == "<token>":
		c = IdentityToken(program, got.Secret)
	default:
		c = Password(program, got.Username, got.Secret)
	}
	return &c, nil
}

// capped keeps the first bytes and discards the rest without an error, so that the program does not hang.
type capped struct {
	kept  bytes.Buffer
	limit int
	cut   bool
}

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	room := c.limit - c.kept.Len()
	if len(p) > room {
		c.cut = true
		c.kept.Write(p[:room])
		return len(p), nil
	}
	return c.kept.Write(p)
}
