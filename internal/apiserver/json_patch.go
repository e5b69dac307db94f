package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
)

// withCheckedPatches refuses JSON patches with an operation that lacks its value, because the library panics on them.
func withCheckedPatches(handler http.Handler, serializer runtime.NegotiatedSerializer, maxBytes int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		kind, _, _ := mime.ParseMediaType(req.Header.Get("Content-Type")) //nolint:errcheck // the library checks it
		if req.Method != http.MethodPatch || kind != string(types.JSONPatchType) {
			handler.ServeHTTP(w, req)
			return
		}
		patch, err := io.ReadAll(io.LimitReader(req.Body, maxBytes))
		if err == nil {
			err = checkPatchValues(patch)
		}
		if err != nil {
			responsewriters.ErrorNegotiated(apierrors.NewBadRequest(err.Error()), serializer, schema.GroupVersion{}, w, req)
			return
		}
		req = req.Clone(req.Context())
		// The library refuses a body above the limit.
		req.Body = readCloser{io.MultiReader(bytes.NewReader(patch), req.Body), req.Body}
		handler.ServeHTTP(w, req)
	})
}

type readCloser struct {
	io.Reader
	io.Closer
}

// checkPatchValues returns an error for the first operation that needs a value and has none. The library refuses a patch
// that is no list of operations.
func checkPatchValues(patch []byte) error {
	var operations []map[string]json.RawMessage
	if json.Unmarshal(patch, &operations) != nil {
		return nil
	}
	for i, o := range operations {
		var name string
		_ = json.Unmarshal(o["op"], &name) // The library refuses an operation without a valid op.
		_, has := o["value"]
		if !has && (name == "add" || name == "replace" || name == "test") {
			return fmt.Errorf("JSON patch: [%d] has the op %q and no value", i, name)
		}
	}
	return nil
}
