package apiserver

import (
	"context"
	"math"

	metainternalversion "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
)

// listAll lists the objects of a kind in the namespace of ctx. For a moment after the start, the watch cache has not read them yet
// and refuses lists, except those with a limit, which the store answers. No list reaches this limit.
func listAll[List runtime.Object](ctx context.Context, of rest.Lister) (list List, err error) {
	all, err := of.List(ctx, &metainternalversion.ListOptions{Limit: math.MaxInt32})
	if err != nil {
		return list, err
	}
	return all.(List), nil
}
