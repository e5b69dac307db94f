package service

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/kinds"
)

var (
	sliceDoc     = discoveryv1.EndpointSlice{}.SwaggerDoc()
	sliceColumns = []metav1.TableColumnDefinition{
		kinds.NameColumn,
		column("AddressType", sliceDoc["addressType"]),
		column("Ports", sliceDoc["ports"]),
		column("Endpoints", sliceDoc["endpoints"]),
		kinds.AgeColumn,
	}
)

func sliceRow(obj runtime.Object, now time.Time) []any {
	s := obj.(*discoveryv1.EndpointSlice)
	var ports, addresses []string
	for _, p := range s.Ports {
		switch {
		case p.Port != nil:
			ports = append(ports, strconv.Itoa(int(*p.Port)))
		default:
			ports = append(ports, ptr.Deref(p.Name, "*"))
		}
	}
	for _, e := range s.Endpoints {
		addresses = append(addresses, e.Addresses...)
	}
	return []any{s.Name, string(s.AddressType), firstFew(ports), firstFew(addresses), kinds.Age(s.CreationTimestamp, now)}
}

// firstFew returns a cell for a list that may be long.
func firstFew(all []string) string {
	const few = 3
	switch {
	case len(all) == 0:
		return "<unset>"
	case len(all) > few:
		return fmt.Sprintf("%s + %d more...", strings.Join(all[:few], ","), len(all)-few)
	}
	return strings.Join(all, ",")
}
