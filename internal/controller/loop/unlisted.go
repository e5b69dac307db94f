package loop

import "slices"

// WithUnlisted returns children with one that was created but that the status of its parent does not list yet, unless it is
// among them.
func WithUnlisted[T Object](children []T, unlisted T) []T {
	var none T
	if unlisted == none || slices.ContainsFunc(children, func(c T) bool { return c.GetUID() == unlisted.GetUID() }) {
		return children
	}
	return append(children, unlisted)
}
