package schedule

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // A machine without time zones shall know them too.
)

// ZoneRemedy says what to do about a bad zone.
const ZoneRemedy = `write an IANA name such as "Europe/Berlin" or "Etc/UTC"`

// zoneNamePart is a part of an IANA name between slashes. It keeps paths out of what is looked up as a file.
var zoneNamePart = regexp.MustCompile(`^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}$`)

// loaded are the zones by name: to read one takes ten times as long as to compute with it.
var loaded sync.Map

// LoadZone is the zone of an IANA name; without one it is UTC.
func LoadZone(name string) (*time.Location, error) {
	if strings.EqualFold(name, "Local") {
		return nil, errors.New("must not depend on the machine: " + ZoneRemedy)
	}
	if name == "" {
		return time.UTC, nil
	}
	if zone, ok := loaded.Load(name); ok {
		return zone.(*time.Location), nil
	}
	unknown := errors.New("unknown time zone: " + ZoneRemedy)
	for part := range strings.SplitSeq(name, "/") {
		if part == "." || part == ".." || !zoneNamePart.MatchString(part) {
			return nil, unknown
		}
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, unknown
	}
	loaded.Store(name, zone)
	return zone, nil
}
