package loop

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// Refused reports whether err means that the object was certainly not created, and will not be later. AlreadyExists is not
// such an error: an earlier attempt of the same controller may have created the object.
func Refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsTooManyRequests(err)
}
