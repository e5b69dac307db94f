package store

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/stint-dev/stint/internal/store/boltpages"
)

func keyValue(name string, modified uint64) string {
	b := protowire.AppendTag(nil, 1, protowire.BytesType)
	b = protowire.AppendString(b, name)
	b = protowire.AppendTag(b, 3, protowire.VarintType)
	return string(protowire.AppendVarint(b, modified))
}

const (
	revision5 = "\x00\x00\x00\x00\x00\x00\x00\x05_\x00\x00\x00\x00\x00\x00\x00\x00"
	eight     = "\x00\x00\x00\x00\x00\x00\x00\x05"
)

func TestWhatEtcdWouldEndOnIsFound(t *testing.T) {
	good := keyValue("/k", 5)
	for name, test := range map[string]struct{ bucket, key, value, want string }{
		"an object":                     {"key", revision5, good, ""},
		"a deletion":                    {"key", revision5 + "t", keyValue("/k", 0), ""},
		"a key of another length":       {"key", revision5[1:], good, "no revision"},
		"a mark that is none":           {"key", revision5 + "u", good, "no revision"},
		"a key without separator":       {"key", strings.Replace(revision5, "_", "-", 1), good, "no revision"},
		"a negative revision":           {"key", "\x80" + revision5[1:], good, "negative"},
		"a value that is no message":    {"key", revision5, "\xff", "EOF"},
		"a value of another revision":   {"key", revision5, keyValue("/k", 6), "revision 6"},
		"a value without a key":         {"key", revision5, keyValue("", 5), "no key"},
		"a short index":                 {"meta", "consistent_index", "1234", "4 bytes of 8"},
		"a short term":                  {"meta", "term", "1234", "4 bytes of 8"},
		"a compaction of no revision":   {"meta", "scheduledCompactRev", eight, "no revision"},
		"a state of the cluster":        {"meta", "confState", "{", "no JSON"},
		"a version of storage":          {"meta", "storageVersion", "3.x.0", "no version"},
		"a newer version":               {"cluster", "clusterVersion", "9.7.0", "no version"},
		"a downgrade":                   {"cluster", "downgrade", `{"enabled":true}`, "another version"},
		"a lease of a short number":     {"lease", "1234", "", "4 bytes of 8"},
		"a lease of another number":     {"lease", eight, "\x08\x06", "lease 6"},
		"a lease":                       {"lease", eight, "\x08\x05", ""},
		"a member without a number":     {"members", "xyz", "{}", "no member's number"},
		"a member that is no JSON":      {"members", "5", "{", "JSON"},
		"another member":                {"members", "5", `{"id":6}`, "member 6"},
		"a removed member":              {"members_removed", "xyz", "removed", "no member's number"},
		"an alarm":                      {"alarm", "\xff", "", "EOF"},
		"users turned on":               {"auth", "authEnabled", "\x01", "not off"},
		"a short revision of users":     {"auth", "authRevision", "1", "1 bytes of 8"},
		"a user":                        {"authUsers", "root", "\xff", "EOF"},
		"a bucket that etcd has not":    {"kez", "", "", "none of etcd's"},
		"an entry outside every bucket": {"", "k", "v", "only buckets"},
	} {
		t.Run(name, func(t *testing.T) {
			var c checkResult
			var err error
			if test.bucket != "" {
				err = c.checkEntry(boltpages.Entry{Key: []byte(test.bucket), IsBucket: true})
			}
			if err == nil {
				err = c.checkEntry(boltpages.Entry{Bucket: test.bucket, Key: []byte(test.key), Value: []byte(test.value)})
			}
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestWhatIsMissingIsFound(t *testing.T) {
	for want, c := range map[string]checkResult{
		`"key" is missing`:              {applied: 5, members: 1},
		`"members" is empty or missing`: {applied: 5, hasKeys: true},
		`"consistent_index" is missing`: {hasKeys: true, newest: revision{main: 2}},
	} {
		if err := c.checkComplete(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	for name, c := range map[string]checkResult{"a new store": {}, "a used one": {applied: 5, hasKeys: true, members: 1}} {
		if err := c.checkComplete(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
