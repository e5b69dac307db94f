package credentials

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Secrets are what the texts of servers must not repeat in a message. It may be used from several goroutines.
type Secrets struct {
	mu sync.Mutex
	// values are found wherever they are, words only between other characters than letters and digits: a short password, or the
	// name of a user, would else be found in the middle of words.
	values, words []string
	// public is text that is no secret, though a user may have the same name.
	public string
}

const (
	// shortest is the length from which a secret is looked for in the middle of words.
	shortest = 6
	// shortestEncoded is the length from which a secret is looked for in what base64 and hexadecimal digits mean: any text means
	// something.
	shortestEncoded = 4
	// escapes bounds how often a text may be escaped.
	escapes = 4
)

// AddPublic adds text that is no secret: the names of an image and its hosts.
func (s *Secrets) AddPublic(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.public += " " + text
}

// AddCredential adds the user, the password and the tokens of a credential.
func (s *Secrets) AddCredential(c Credential) {
	user, password := c.config.Username, c.config.Password
	s.addWord(user)
	s.add(password, c.config.IdentityToken)
	if user != "" && password != "" {
		s.add(user + ":" + password)
	}
}

// AddHeader adds the values of headers that are sent to one host only, and their parts, such as the value of a cookie.
func (s *Secrets) AddHeader(header http.Header) {
	for name, values := range header {
		for _, value := range values {
			s.add(value)
			if scheme, login, ok := strings.Cut(value, " "); ok && strings.HasSuffix(http.CanonicalHeaderKey(name), "Authorization") {
				s.addLogin(scheme, login)
				value = login
			}
			for _, part := range strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(` ;,="`, r) }) {
				if len(part) >= shortest {
					s.add(part)
				}
			}
		}
	}
}

// addLogin adds what follows the scheme in a header Authorization.
func (s *Secrets) addLogin(scheme, login string) {
	login = strings.TrimSpace(login)
	s.add(login)
	pair, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(login, "="))
	if err == nil && strings.EqualFold(scheme, "Basic") {
		user, password, _ := strings.Cut(string(pair), ":")
		s.AddCredential(Password("", user, password))
	}
}

// AddRequest adds what a request says to log in: its header Authorization, and the tokens in its form.
func (s *Secrets) AddRequest(req *http.Request) {
	s.AddHeader(http.Header{"Authorization": req.Header.Values("Authorization")})
	if req.GetBody == nil {
		return
	}
	body, err := req.GetBody()
	if err != nil {
		return
	}
	defer body.Close()
	form := http.Request{Method: req.Method, Header: req.Header, Body: body, URL: &url.URL{}}
	if form.ParseForm() == nil {
		s.add(form.PostForm.Get("refresh_token"), form.PostForm.Get("password"))
	}
}

func (s *Secrets) add(values ...string) {
	for _, v := range values {
		if len(v) < shortest {
			s.addWord(v)
			continue
		}
		s.mu.Lock()
		if !slices.Contains(s.values, v) {
			s.values = append(s.values, v)
		}
		s.mu.Unlock()
	}
}

func (s *Secrets) addWord(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if word != "" && !slices.Contains(s.words, word) {
		s.words = append(s.words, word)
	}
}

// Repeated reports whether a text repeats a secret, however the text quotes, breaks, escapes or encodes it.
func (s *Secrets) Repeated(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range escapes {
		if s.in(text, 1) || slices.ContainsFunc(decoded(text), func(t string) bool { return s.in(t, shortestEncoded) }) {
			return true
		}
		plainer := unescape(text)
		if plainer == text {
			break
		}
		text = plainer
	}
	return false
}

// in reports whether a text has one of the secrets of at least so many bytes.
func (s *Secrets) in(text string, length int) bool {
	for _, word := range s.words {
		if len(word) >= length && hasWord(text, word) && !hasWord(s.public, word) {
			return true
		}
	}
	letters := squeezed(text)
	return slices.ContainsFunc(s.values, func(v string) bool {
		short := squeezed(v)
		return strings.Contains(text, v) || len(short) >= shortest && strings.Contains(letters, short)
	})
}

// squeezed returns the letters and digits of a text, all small.
func squeezed(text string) string {
	return strings.Map(func(r rune) rune {
		if isLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

func hasWord(text, word string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], word)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(text[:from+i])
		after, _ := utf8.DecodeRuneInString(text[from+i+len(word):])
		if !isLetter(before) && !isLetter(after) {
			return true
		}
		from += i + 1
	}
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

var (
	percent   = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	backslash = regexp.MustCompile(`\\(u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|.)`)
)

// unescape undoes one layer of the escapes of URLs, of JSON and Go, and of HTML.
func unescape(text string) string {
	text = percent.ReplaceAllStringFunc(text, func(e string) string { return bytesOf(e[1:]) })
	text = backslash.ReplaceAllStringFunc(text, func(e string) string {
		switch {
		case len(e) == len(`\u0000`) && e[1] == 'u':
			r, _ := strconv.ParseUint(e[2:], 16, 16)
			return string(rune(r))
		case len(e) == len(`\x00`) && e[1] == 'x':
			return bytesOf(e[2:])
		case strings.ContainsAny(e[1:], "abfnrtv"):
			return " "
		}
		return e[1:]
	})
	return html.UnescapeString(text)
}

func bytesOf(digits string) string {
	b, _ := hex.DecodeString(digits)
	return string(b)
}

// decoded returns what a text means in base64 and in hexadecimal digits, whatever is between the digits, and wherever among others
// a value begins.
func decoded(text string) []string {
	var meanings []string
	digits := only(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")
	digits = strings.NewReplacer("-", "+", "_", "/").Replace(digits)
	for from := range min(4, len(digits)) {
		bytes, _ := base64.RawStdEncoding.DecodeString(digits[from:])
		meanings = append(meanings, string(bytes))
	}
	digits = only(text, "0123456789abcdefABCDEF")
	for from := range min(2, len(digits)) {
		meanings = append(meanings, bytesOf(digits[from:]))
	}
	return meanings
}

func only(text, characters string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(characters, r) {
			return r
		}
		return -1
	}, text)
}
