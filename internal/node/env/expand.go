package env

import "strings"

// Expand replaces every $(NAME) by its value. $$ stands for one $, and $$(NAME) for the text $(NAME); names that
// lookup does not know and anything that is no reference stay as they are.
func Expand(text string, lookup func(name string) (string, bool)) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		written, used := expandOne(rest, lookup)
		b.WriteString(written)
		text = rest[used:]
	}
}

// expandOne expands what follows a $. It returns the text to write, and how many bytes of rest that replaces.
func expandOne(rest string, lookup func(string) (string, bool)) (written string, used int) {
	if strings.HasPrefix(rest, "$") {
		return "$", 1
	}
	if !strings.HasPrefix(rest, "(") {
		return "$", 0
	}
	end := strings.IndexByte(rest, ')')
	if end < 0 {
		return "$", 0
	}
	if value, ok := lookup(rest[1:end]); ok {
		return value, end + 1
	}
	return "$" + rest[:end+1], end + 1
}
