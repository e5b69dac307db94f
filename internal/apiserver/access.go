package apiserver

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
)

// reviewREST serves the reviews of the requesting user (`kubectl auth whoami`, `kubectl auth can-i`). It stores nothing.
type reviewREST struct {
	singular string
	new      func() runtime.Object
	answer   func(ctx context.Context, obj runtime.Object) error
}

func (r reviewREST) New() runtime.Object { return r.new() }

// Destroy does nothing: there is no storage.
func (reviewREST) Destroy() {}

func (reviewREST) NamespaceScoped() bool { return false }

func (r reviewREST) GetSingularName() string { return r.singular }

// Create implements rest.Creater.
func (r reviewREST) Create(ctx context.Context, obj runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	if validate != nil {
		if err := validate(ctx, obj.DeepCopyObject()); err != nil {
			return nil, err
		}
	}
	return obj, r.answer(ctx, obj)
}

func selfSubjectReview() reviewREST {
	return reviewREST{
		singular: "selfsubjectreview",
		new:      func() runtime.Object { return &authenticationv1.SelfSubjectReview{} },
		answer: func(ctx context.Context, obj runtime.Object) error {
			u, ok := genericapirequest.UserFrom(ctx)
			if !ok {
				return apierrors.NewBadRequest("no user is known for this request")
			}
			info := authenticationv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
			for k, v := range u.GetExtra() {
				if info.Extra == nil {
					info.Extra = map[string]authenticationv1.ExtraValue{}
				}
				info.Extra[k] = v
			}
			obj.(*authenticationv1.SelfSubjectReview).Status.UserInfo = info
			return nil
		},
	}
}

// allowedReason is the reason in access reviews, which allow everything.
const allowedReason = "all users with credentials of this server may do everything"

func selfSubjectAccessReview() reviewREST {
	return reviewREST{
		singular: "selfsubjectaccessreview",
		new:      func() runtime.Object { return &authorizationv1.SelfSubjectAccessReview{} },
		answer: func(_ context.Context, obj runtime.Object) error {
			review := obj.(*authorizationv1.SelfSubjectAccessReview)
			if (review.Spec.ResourceAttributes == nil) == (review.Spec.NonResourceAttributes == nil) {
				return apierrors.NewBadRequest(fmt.Sprintf("exactly one of %s and %s must be specified", "spec.resourceAttributes", "spec.nonResourceAttributes"))
			}
			review.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: true, Reason: allowedReason}
			return nil
		},
	}
}

func selfSubjectRulesReview() reviewREST {
	return reviewREST{
		singular: "selfsubjectrulesreview",
		new:      func() runtime.Object { return &authorizationv1.SelfSubjectRulesReview{} },
		answer: func(_ context.Context, obj runtime.Object) error {
			obj.(*authorizationv1.SelfSubjectRulesReview).Status = authorizationv1.SubjectRulesReviewStatus{
				ResourceRules:    []authorizationv1.ResourceRule{{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}}},
				NonResourceRules: []authorizationv1.NonResourceRule{{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}}},
			}
			return nil
		},
	}
}
