package main

import "regexp"

// dialect are words that a stranger has to learn, and what to say instead.
var dialect = []struct {
	words *regexp.Regexp
	say   string
}{
	{words("nobody", "somebody", "whoever", "whomever", "those who"), `who it is: "no client", "the user", "another controller"`},
	{words("tells? whether", "told whether", "telling whether"), `"reports whether"`},
	{words("tells? of", "told of", "tells? that"), `"reports", "says", or what is true when it is set`},
	{words("lets? go", "letting go"), `"release" (the owner reference) or "remove the finalizer"`},
	{words("patience"), `"timeout", or "retry policy"`},
	{words("haste", "hasty"), `"delay"`},
	{words("obituary", "obituaries"), `"deleted Jobs"`},
	{words("recollections?"), `"state"`},
	{words("rubbish"), `"deferred removal", or what it is that is removed`},
	{words("hindrances?", "hindered"), `"waiting reason" or "start failure"`},
}

// words matches any of these patterns as whole words, in any case, across the lines of a comment.
func words(patterns ...string) *regexp.Regexp {
	all := ""
	for i, p := range patterns {
		if i > 0 {
			all += "|"
		}
		all += regexp.MustCompile(" ").ReplaceAllString(p, `\s+`)
	}
	return regexp.MustCompile(`(?i)\b(?:` + all + `)\b`)
}
