package network

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// settings are kernel parameters of a network namespace, by their paths below /proc/sys/net.
type settings map[string]string

// podSettings lets programs that are not root ping and listen on every port, as container runtimes do: neither reaches
// beyond the pods. Groups is how many group ids there are. IPv6 is only on the loopback interface.
func podSettings(groups uint32) settings {
	return settings{
		"ipv4/ping_group_range":           fmt.Sprintf("0 %d", groups-1),
		"ipv4/ip_unprivileged_port_start": "0",
		"ipv6/conf/default/disable_ipv6":  "1",
	}
}

// routerSettings are those of the network of all pods. A pod cannot send from another one's address.
var routerSettings = settings{
	"ipv4/ip_forward":                "1",
	"ipv4/conf/all/rp_filter":        "1",
	"ipv4/conf/all/send_redirects":   "0",
	"ipv6/conf/default/disable_ipv6": "1",
}

// write sets them in the network namespace of the calling thread. A kernel may lack IPv6.
func (s settings) write() error {
	for path, value := range s {
		err := os.WriteFile("/proc/sys/net/"+path, []byte(value), 0)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
