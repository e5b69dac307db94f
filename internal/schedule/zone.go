package schedule

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // For machines without a time zone database.
)

// ZoneRemedy is what errors about a time zone tell the user to do.
const ZoneRemedy = `write an IANA name such as "Europe/Berlin" or "Etc/UTC"`

// zoneNamePart matches a part of an IANA name between slashes. Other names are refused, as names are looked up as files.
var zoneNamePart = regexp.MustCompile(`^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}$`)

// loaded caches zones by name: loading one takes ten times as long as computing with it.
var loaded sync.Map

// LoadZone returns the time zone with an IANA name; UTC if name is empty.
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
