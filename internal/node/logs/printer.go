package logs

import (
	"errors"
	"io"
)

// errFull ends the output at the limit that was asked for.
var errFull = errors.New("limit of bytes reached")

// printer turns records back into the container's output.
type printer struct {
	w    io.Writer
	opts Options
	// skip is how many whole lines are still to be left out.
	skip int64
	// left is how many bytes may still be written; negative is no limit.
	left int64
	// midLine holds for each stream whether its line continues in the next record.
	midLine map[string]bool
}

func (p *printer) print(r record) error {
	if !r.wanted(p.opts) {
		return nil
	}
	if p.skip > 0 {
		if r.whole {
			p.skip--
		}
		return nil
	}
	var out []byte
	if p.opts.Timestamps && !p.midLine[r.stream] {
		out = append(append(out, r.stamp...), ' ')
	}
	out = append(out, r.text...)
	if r.whole {
		out = append(out, '\n')
	}
	p.midLine[r.stream] = !r.whole
	return p.write(out)
}

func (p *printer) write(out []byte) error {
	if p.left < 0 {
		_, err := p.w.Write(out)
		return err
	}
	n := min(int64(len(out)), p.left)
	p.left -= n
	if _, err := p.w.Write(out[:n]); err != nil {
		return err
	}
	if p.left == 0 {
		return errFull
	}
	return nil
}
