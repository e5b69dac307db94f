package loop

import apierrors "k8s.io/apimachinery/pkg/api/errors"

// Refused reports whether the server has said no: what was to be created is not created later, unseen. That the name is
// taken says nothing about who took it.
func Refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsNotFound(err) ||
		apierrors.IsBadRequest(err) || apierrors.IsTooManyRequests(err)
}
