package registry

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

func TestSecrets(t *testing.T) {
	secret := func(kind corev1.SecretType, keys ...string) *corev1.Secret {
		s := &corev1.Secret{Type: kind, Data: map[string][]byte{}}
		for _, key := range keys {
			s.Data[key] = []byte("{}")
		}
		return s
	}
	runObjectCases(t, Secret(), map[string]objectCase{
		"a secret is opaque":                    {obj: secret("", "a")},
		"keys are no paths":                     {obj: secret("", "a/b"), want: []string{"data[a/b] Invalid"}},
		"all of it is a megabyte":               {obj: &corev1.Secret{Data: map[string][]byte{"a": make([]byte, 1<<20+1)}}, want: []string{"data TooLong"}},
		"a token is an account's":               {obj: secret(corev1.SecretTypeServiceAccountToken), want: []string{"metadata.annotations[kubernetes.io/service-account.name] Required"}},
		"a certificate has a key":               {obj: secret(corev1.SecretTypeTLS, "tls.crt"), want: []string{"data[tls.key] Required"}},
		"a user has a name or a password":       {obj: secret(corev1.SecretTypeBasicAuth), want: []string{"data[password] Required", "data[username] Required"}},
		"a password will do":                    {obj: secret(corev1.SecretTypeBasicAuth, "password")},
		"a key for ssh is there":                {obj: secret(corev1.SecretTypeSSHAuth), want: []string{"data[ssh-privatekey] Required"}},
		"a registry's settings are there":       {obj: secret(corev1.SecretTypeDockercfg), want: []string{"data[.dockercfg] Required"}},
		"a registry's settings are JSON":        {obj: &corev1.Secret{Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{".dockerconfigjson": []byte("no")}}, want: []string{"data[.dockerconfigjson] Invalid"}},
		"a registry's settings may be any JSON": {obj: secret(corev1.SecretTypeDockerConfigJson, ".dockerconfigjson")},
		"a type stays":                          {old: secret("", "a"), obj: secret("mine/own", "a"), want: []string{"type Invalid"}},
		"an immutable one is kept": {old: &corev1.Secret{Immutable: ptr.To(true)}, obj: &corev1.Secret{StringData: map[string]string{"a": "1"}},
			want: []string{"data Forbidden", "immutable Forbidden"}},
	})
}

func TestSecretTextBecomesData(t *testing.T) {
	s := registrytest.Posted(Secret(), &corev1.Secret{Data: map[string][]byte{"a": []byte("1"), "b": []byte("2")}, StringData: map[string]string{"b": "3", "c": "4"}})
	want := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"a": []byte("1"), "b": []byte("3"), "c": []byte("4")}}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSecretContentsStayOutOfErrors(t *testing.T) {
	s := &corev1.Secret{Type: corev1.SecretTypeDockercfg, Data: map[string][]byte{".dockercfg": []byte("hunter2")}}
	if got := Secret().Validate(context.Background(), s).ToAggregate(); got == nil || strings.Contains(got.Error(), "hunter2") {
		t.Errorf("got %v", got)
	}
}
