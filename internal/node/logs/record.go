package logs

import (
	"bytes"
	"fmt"
	"time"
)

// record is one line of a log file: a whole line of output, or a piece of one.
type record struct {
	time   time.Time
	stamp  []byte
	stream string
	// whole is false where the output's line goes on in the stream's next record.
	whole bool
	text  []byte
}

// parse reads "<time> <stream> <F|P> <text>", without the line's end.
func parse(line []byte) (record, error) {
	stamp, rest, ok1 := bytes.Cut(line, []byte(" "))
	stream, rest, ok2 := bytes.Cut(rest, []byte(" "))
	tag, text, ok3 := bytes.Cut(rest, []byte(" "))
	if !ok1 || !ok2 || !ok3 {
		// The tag of an empty line may lack the space after it.
		if !ok1 || !ok2 || len(rest) == 0 {
			return record{}, fmt.Errorf("log line %.60q: want time, stream, tag and text", line)
		}
		tag, text = rest, nil
	}
	t, err := time.Parse(time.RFC3339Nano, string(stamp))
	if err != nil {
		return record{}, fmt.Errorf("log line %.60q: %w", line, err)
	}
	if s := string(stream); s != "stdout" && s != "stderr" {
		return record{}, fmt.Errorf("log line %.60q: unknown stream", line)
	}
	return record{time: t, stamp: stamp, stream: string(stream), whole: !bytes.HasPrefix(tag, []byte("P")), text: text}, nil
}

func (r record) wanted(o Options) bool {
	return (o.Stream == "" || o.Stream == r.stream) && (o.Since.IsZero() || !r.time.Before(o.Since))
}
