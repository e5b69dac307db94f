package registry

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// failed returns the Error of a request that got no response. The text of unknown errors is left out: they may quote URLs
// with signatures, and responses of token servers.
func failed(ctx context.Context, err error) *Error {
	var ended tooLate
	if errors.As(context.Cause(ctx), &ended) {
		return ended.err
	}
	if stop := ctx.Err(); stop != nil {
		return &Error{Kind: ErrUnavailable, Detail: stop.Error(), cause: stop}
	}
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	var refused *transport.Error
	if errors.As(err, &refused) {
		e := statusError(refused.StatusCode, nil)
		e.Detail = "the login failed: " + e.Detail
		return e
	}
	if detail, said := insecure(err); detail != "" {
		return &Error{Kind: ErrTLS, Detail: detail, said: said}
	}
	if said := byText(err.Error()); said != nil {
		return said
	}
	var dns *net.DNSError
	var op *net.OpError
	var timeout net.Error
	e := &Error{Kind: ErrUnavailable, Temporary: true}
	switch {
	case errors.As(err, &dns):
		e.said, e.Temporary = dns.Error(), !dns.IsNotFound
	case errors.As(err, &op):
		e.Detail, e.said = ofConnection(op)
	case errors.As(err, &timeout) && timeout.Timeout():
		e.Detail = "no answer in time"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		e.Detail = "the connection ended early"
	default:
		e.Detail = "the connection broke"
	}
	return e
}

// byText returns the Error of what libraries say in words only; nil if it is something else.
func byText(text string) *Error {
	for _, known := range []struct {
		part string
		err  *Error
	}{
		{"is a private or link-local address", tokenServerByIP()},
		{"realm scheme", plainTokenServer()},
		{"bearer response", &Error{Kind: ErrBadAnswer, Detail: "the token server gave no token"}},
		{"byte limit", &Error{Kind: ErrBadAnswer, Detail: "the answer of the token server has more than 64 KiB"}},
		{"stopped after 10 redirects", &Error{Kind: ErrBadAnswer, Detail: "the registry redirects more than 10 times"}},
		{"response headers exceeded", headersTooLarge()},
		{"response header list larger than", headersTooLarge()},
		{"TLS handshake timeout", &Error{Kind: ErrUnavailable, Temporary: true,
			Detail: fmt.Sprintf("the TLS handshake did not end within %s", handshakeTimeout)}},
	} {
		if strings.Contains(text, known.part) {
			return known.err
		}
	}
	return nil
}

func headersTooLarge() *Error {
	return &Error{Kind: ErrBadAnswer, Detail: fmt.Sprintf("the headers of the answer have more than %d KiB", maxHeaders>>10)}
}

// ofConnection returns what is wrong with a connection, in words of this machine, and the address, which a redirect may have named.
func ofConnection(op *net.OpError) (detail, said string) {
	var number syscall.Errno
	switch {
	case op.Addr == nil:
		return "", op.Error()
	case errors.As(op.Err, &number):
		return number.Error(), op.Addr.String()
	case op.Timeout():
		return "no answer in time", op.Addr.String()
	}
	return "", op.Error()
}

// insecure returns what is wrong with a connection's security, in Stint's words and those of others, which name what is in the
// certificate.
func insecure(err error) (detail, said string) {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	switch {
	case errors.Is(err, http.ErrSchemeMismatch):
		return "the registry uses plain HTTP; to allow that, name it with http:// in a hosts.toml", ""
	case errors.As(err, &unknown):
		return "the certificate is of an unknown authority; a hosts.toml can name its ca", ""
	case errors.As(err, &verify):
		return "the certificate is not valid", verify.Err.Error()
	case errors.As(err, &alert):
		return "the handshake failed", alert.Error()
	case errors.As(err, &record):
		return "the handshake failed", record.Error()
	}
	return "", ""
}

// responseError returns the Error of an error response that is not a denial.
func responseError(resp *http.Response) *Error {
	e := statusError(resp.StatusCode, resp.Header)
	e.said = messageOf(resp)
	return e
}

// messageOf returns what an error response says; empty if it has no message. No more of it is there to read than maxErrorBody.
func messageOf(resp *http.Response) string {
	body, _ := io.ReadAll(resp.Body)
	var structured struct {
		Errors []transport.Diagnostic `json:"errors"`
	}
	_ = json.Unmarshal(body, &structured)
	if len(structured.Errors) == 0 {
		return ""
	}
	return structured.Errors[0].Message
}

func statusText(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

func statusError(status int, header http.Header) *Error {
	e := &Error{Detail: statusText(status)}
	switch {
	case isDenial(status):
		e.Kind = ErrUnauthorized
	case status == http.StatusNotFound:
		e.Kind = ErrNotFound
	case status == http.StatusTooManyRequests:
		e.Kind, e.Temporary, e.RetryAfter = ErrRateLimited, true, retryAfter(header)
	case status == http.StatusRequestTimeout || status >= 500:
		e.Kind, e.Temporary, e.RetryAfter = ErrUnavailable, true, retryAfter(header)
	default:
		e.Kind = ErrBadAnswer
	}
	return e
}

// retryAfter returns the header Retry-After, which has seconds or a date; zero if there is none.
func retryAfter(header http.Header) time.Duration {
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return time.Duration(min(max(seconds, 0), 7*24*3600)) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}
