package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/stint-dev/stint/internal/datadir"
)

// etcdLog writes etcd's warnings to a file, which every start truncates. It also keeps etcd from ending this process (for
// example because of a full disk or a file that it cannot read): failed delivers the reason instead, and broken is closed.
type etcdLog struct {
	*zap.Logger
	file   *os.File
	failed chan error
	broken context.Context
}

func logPath(etcdDir string) string { return filepath.Join(etcdDir, "etcd.log") }

func openLog(etcdDir string) (*etcdLog, error) {
	f, err := datadir.Open(logPath(etcdDir), os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return nil, err
	}
	broken, fail := context.WithCancel(context.Background())
	l := &etcdLog{file: f, failed: make(chan error, 1), broken: broken}
	capture := errorCapture{l.failed, fail}
	encoder := zapcore.NewConsoleEncoder(zap.NewProductionEncoderConfig())
	core := zapcore.NewCore(encoder, zapcore.Lock(f), zapcore.WarnLevel)
	l.Logger = zap.New(core, zap.WithFatalHook(capture), zap.WithPanicHook(capture), zap.ErrorOutput(zapcore.AddSync(io.Discard)))
	return l, nil
}

// Close closes the file.
func (l *etcdLog) Close() error { return l.file.Close() }

type errorCapture struct {
	to   chan<- error
	fail func()
}

// OnWrite returns only if etcd can do without what failed, because its callers rely on the end of the process. It blocks only a goroutine
// of etcd, which has failed anyway.
func (w errorCapture) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	if isLeftOut(entry.Message, fields) {
		return
	}
	select {
	case w.to <- describe(entry.Message, fields):
	default: // only the first reason matters
	}
	w.fail()
	select {}
}

func describe(message string, fields []zapcore.Field) error {
	encoder := zapcore.NewMapObjectEncoder()
	for _, f := range fields {
		f.AddTo(encoder)
	}
	if cause, ok := encoder.Fields["error"]; ok {
		return fmt.Errorf("%s: %v", strings.TrimSpace(message), cause)
	}
	return errors.New(strings.TrimSpace(message))
}
