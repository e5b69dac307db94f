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

// adminName is the one user there is, whichever way it shows who it is.
const (
	adminName  = "stint-admin"
	adminGroup = user.SystemPrivilegedGroup
)

// newAuthenticator knows the client certificate and the token of the kubeconfig, and nobody else.
func newAuthenticator(ca dynamiccertificates.CAContentProvider, token string) authenticator.Request {
	tokens := tokenfile.New(map[string]*user.DefaultInfo{
		token: {Name: adminName, UID: adminName, Groups: []string{adminGroup}},
	})
	return group.NewAuthenticatedGroupAdder(union.New(
		x509.NewDynamic(ca.VerifyOptions, x509.CommonNameUserConversion),
		bearertoken.New(tokens),
	))
}
