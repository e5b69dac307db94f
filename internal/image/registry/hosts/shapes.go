package hosts

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/pelletier/go-toml/v2/unstable"
)

func (s settings) certificates(h *Host, dir string) error {
	if s.CA != nil {
		files, err := stringsOf(s.CA)
		if err != nil {
			return fmt.Errorf("ca: %w", err)
		}
		for _, f := range files {
			h.CA = append(h.CA, under(dir, f))
		}
	}
	if s.Client == nil {
		return nil
	}
	list, ok := s.Client.([]any)
	if !ok {
		list = []any{s.Client}
	}
	for _, entry := range list {
		p, err := pair(entry)
		if err != nil {
			return fmt.Errorf("client: %w", err)
		}
		h.Clients = append(h.Clients, Pair{Certificate: under(dir, p.Certificate), Key: under(dir, p.Key)})
	}
	return nil
}

// pair reads the path of a certificate, or a list with the paths of a certificate and its key.
func pair(entry any) (Pair, error) {
	files, err := stringsOf(entry)
	if err != nil {
		return Pair{}, err
	}
	_, alone := entry.(string)
	switch {
	case len(files) == 2:
		return Pair{Certificate: files[0], Key: files[1]}, nil
	case alone:
		return Pair{Certificate: files[0]}, nil
	}
	return Pair{}, errors.New("a pair is a certificate and a key")
}

// stringsOf reads a string or a list of strings.
func stringsOf(value any) ([]string, error) {
	switch v := value.(type) {
	case string:
		return []string{v}, nil
	case []any:
		list := make([]string, 0, len(v))
		for _, e := range v {
			s, ok := e.(string)
			if !ok {
				return nil, errors.New("expected strings")
			}
			list = append(list, s)
		}
		return list, nil
	}
	return nil, errors.New("expected a string or a list of strings")
}

func under(dir, file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(dir, file)
}

// order returns the hosts in the order of the file, which decoding into a map loses.
func order(data []byte, hosts map[string]settings) []string {
	var names []string
	add := func(key []string) {
		if len(key) < 2 || key[0] != "host" {
			return
		}
		if _, is := hosts[key[1]]; is && !slices.Contains(names, key[1]) {
			names = append(names, key[1])
		}
	}
	var p unstable.Parser
	p.Reset(data)
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table = keyOf(e)
			add(table)
		case unstable.KeyValue:
			key := append(slices.Clone(table), keyOf(e)...)
			add(key)
			inline(e, key, add)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(hosts)) {
		add([]string{"host", name}) // Hosts that were not found above, in whatever form they are written.
	}
	return names
}

// inline calls add for the keys of an inline table, { }.
func inline(e *unstable.Node, key []string, add func([]string)) {
	if len(key) > 1 || e.Value().Kind != unstable.InlineTable {
		return
	}
	for children := e.Value().Children(); children.Next(); {
		add(append(slices.Clone(key), keyOf(children.Node())...))
	}
}

func keyOf(e *unstable.Node) []string {
	var key []string
	for parts := e.Key(); parts.Next(); {
		key = append(key, string(parts.Node().Data))
	}
	return key
}
