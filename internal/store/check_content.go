package store

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/stint-dev/stint/internal/store/boltpages"
)

// checkResult checks etcd's buckets entry by entry. etcd ends the process on most invalid entries, and takes a missing
// bucket for an empty one.
type checkResult struct {
	hasKeys bool // whether the bucket with all objects exists
	newest  revision
	members int
	applied uint64                        // how many entries of the log the database has applied
	check   func(key, value []byte) error // checks an entry of the current bucket
}

// revision is the transaction that wrote a key, and how many keys it wrote before.
type revision struct{ main, sub uint64 }

// checkEntry checks one entry. It is called for a bucket before its entries.
func (c *checkResult) checkEntry(e boltpages.Entry) error {
	if e.IsBucket != (e.Bucket == "") {
		return fmt.Errorf("%q in bucket %q: only buckets are at the root, and no others", e.Key, e.Bucket)
	}
	if e.IsBucket {
		if c.check = c.checkOf(string(e.Key)); c.check == nil {
			return fmt.Errorf("bucket %q is none of etcd's", e.Key)
		}
		return nil
	}
	if err := c.check(e.Key, e.Value); err != nil {
		return fmt.Errorf("%q in bucket %q: %w", e.Key, e.Bucket, err)
	}
	return nil
}

// checkOf returns the check for the entries of a bucket, or nil if etcd has no such bucket.
func (c *checkResult) checkOf(bucket string) func(key, value []byte) error {
	switch bucket {
	case schema.Key.String():
		c.hasKeys = true
		return c.object
	case schema.Meta.String():
		return c.metadata
	case schema.Lease.String():
		return lease
	case schema.Cluster.String():
		return cluster
	case schema.Members.String():
		return c.member
	case schema.MembersRemoved.String():
		return func(key, _ []byte) error { _, err := memberID(key); return err }
	case schema.Alarm.String():
		return func(key, _ []byte) error { return fields(key, nil) }
	case schema.Auth.String():
		return authentication
	case schema.AuthUsers.String(), schema.AuthRoles.String():
		return func(_, value []byte) error { return fields(value, nil) }
	}
	return nil
}

// checkComplete finds missing buckets and keys after all entries have been checked. etcd writes them in one transaction
// with others that exist, so all of them must exist.
func (c *checkResult) checkComplete() error {
	switch {
	case c.applied > 0 && !c.hasKeys:
		return fmt.Errorf("bucket %q is missing", schema.Key)
	case c.applied > 0 && c.members == 0:
		return fmt.Errorf("bucket %q is empty or missing", schema.Members)
	case c.applied == 0 && c.newest != revision{}:
		return fmt.Errorf("%q is missing", schema.MetaConsistentIndexKeyName)
	}
	return nil
}

const (
	revisionSize = 17
	tombstone    = 't' // follows the revision of a deletion
)

func (c *checkResult) object(key, value []byte) error {
	deleted := len(key) == revisionSize+1 && key[revisionSize] == tombstone
	if len(key) != revisionSize && !deleted {
		return errors.New("it is no revision")
	}
	at, err := readRevision(key[:revisionSize])
	if err != nil {
		return err
	}
	if at == c.newest {
		return errors.New("its revision is there twice")
	}
	c.newest = at
	var hasName bool
	var modified uint64
	err = fields(value, func(number protowire.Number, scalar uint64, data []byte) {
		switch number {
		case 1: // key
			hasName = len(data) > 0
		case 3: // mod_revision
			modified = scalar
		}
	})
	switch {
	case err != nil:
		return err
	case !hasName:
		return errors.New("it belongs to no key")
	case !deleted && modified != at.main:
		return fmt.Errorf("it says that it is revision %d", modified)
	}
	return nil
}

func readRevision(b []byte) (revision, error) {
	if len(b) != revisionSize || b[8] != '_' {
		return revision{}, errors.New("it is no revision")
	}
	r := revision{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[9:])}
	if int64(r.main) < 0 || int64(r.sub) < 0 {
		return revision{}, errors.New("its revision is negative")
	}
	return r, nil
}

func (c *checkResult) metadata(key, value []byte) error {
	switch string(key) {
	case string(schema.MetaConsistentIndexKeyName):
		if len(value) != 8 {
			return fmt.Errorf("it has %d bytes of 8", len(value))
		}
		c.applied = binary.BigEndian.Uint64(value)
	case string(schema.MetaTermKeyName):
		if len(value) != 8 {
			return fmt.Errorf("it has %d bytes of 8", len(value))
		}
	case string(schema.ScheduledCompactKeyName), string(schema.FinishedCompactKeyName):
		_, err := readRevision(value)
		return err
	case string(schema.MetaConfStateName):
		if !json.Valid(value) {
			return errors.New("it is no JSON")
		}
	case string(schema.MetaStorageVersionName):
		return knownVersion(value)
	}
	return nil
}

func lease(key, value []byte) error {
	if len(key) != 8 {
		return fmt.Errorf("it has %d bytes of 8", len(key))
	}
	var id uint64
	err := fields(value, func(number protowire.Number, scalar uint64, _ []byte) {
		if number == 1 {
			id = scalar
		}
	})
	if err == nil && id != binary.BigEndian.Uint64(key) {
		err = fmt.Errorf("it says that it is lease %d", id)
	}
	return err
}

func cluster(key, value []byte) error {
	switch string(key) {
	case string(schema.ClusterClusterVersionKeyName):
		return knownVersion(value)
	case string(schema.ClusterDowngradeKeyName):
		var downgrade struct {
			Enabled bool `json:"enabled"`
		}
		if err := json.Unmarshal(value, &downgrade); err != nil {
			return err
		}
		if downgrade.Enabled {
			return errors.New("it asks for another version of etcd")
		}
	}
	return nil
}

func (c *checkResult) member(key, value []byte) error {
	id, err := memberID(key)
	if err != nil {
		return err
	}
	var m membership.Member
	if err := json.Unmarshal(value, &m); err != nil {
		return err
	}
	if uint64(m.ID) != id {
		return fmt.Errorf("it says that it is member %s", m.ID)
	}
	c.members++
	return nil
}

func memberID(key []byte) (id uint64, err error) {
	if _, err := fmt.Sscanf(string(key), "%x", &id); err != nil || fmt.Sprintf("%x", id) != string(key) {
		return 0, errors.New("it is no member's number")
	}
	return id, nil
}

// authentication checks the settings for etcd's users. Stint has none, so authentication must be off.
func authentication(key, value []byte) error {
	switch string(key) {
	case string(schema.AuthEnabledKeyName):
		if len(value) != 1 || value[0] != 0 {
			return errors.New("it is not off")
		}
	case string(schema.AuthRevisionKeyName):
		if len(value) != 8 {
			return fmt.Errorf("it has %d bytes of 8", len(value))
		}
	}
	return nil
}

// knownVersion returns an error if value is no version, or is a newer one than that of this etcd.
func knownVersion(value []byte) error {
	major, minor, ok := parseVersion(string(value))
	ourMajor, ourMinor, _ := parseVersion(version.Version)
	if !ok || major != ourMajor || minor > ourMinor {
		return fmt.Errorf("%q is no version that etcd %s reads", value, version.Version)
	}
	return nil
}

func parseVersion(s string) (major, minor uint, ok bool) {
	var patch uint
	_, err := fmt.Sscanf(s, "%d.%d.%d", &major, &minor, &patch)
	return major, minor, err == nil && fmt.Sprintf("%d.%d.%d", major, minor, patch) == s
}

// fields calls field for the fields of an encoded protobuf message. A message without an error here is also decoded
// without one by the generated decoder.
func fields(message []byte, field func(number protowire.Number, scalar uint64, data []byte)) error {
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		size := protowire.ConsumeFieldValue(number, kind, message)
		if size < 0 {
			return protowire.ParseError(size)
		}
		if field != nil {
			read(number, kind, message[:size], field)
		}
		message = message[size:]
	}
	return nil
}

func read(number protowire.Number, kind protowire.Type, value []byte, field func(protowire.Number, uint64, []byte)) {
	switch kind {
	case protowire.VarintType:
		scalar, _ := protowire.ConsumeVarint(value)
		field(number, scalar, nil)
	case protowire.BytesType:
		data, _ := protowire.ConsumeBytes(value)
		field(number, 0, data)
	}
}
