package apiserver

import (
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/group"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/union"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// adminName is the only user. The client certificate and the token both authenticate as this user.
const (
	adminName  = "stint-admin"
	adminGroup = user.SystemPrivilegedGroup
)

// newAuthenticator accepts client certificates of the CA, such as the kubeconfig's, and the kubeconfig's token.
func newAuthenticator(ca dynamiccertificates.CAContentProvider, token string) authenticator.Request {
	tokens := tokenfile.New(map[string]*user.DefaultInfo{
		token: {Name: adminName, UID: adminName, Groups: []string{adminGroup}},
	})
	return group.NewAuthenticatedGroupAdder(union.New(
		x509.NewDynamic(ca.VerifyOptions, x509.CommonNameUserConversion),
		bearertoken.New(tokens),
	))
}
