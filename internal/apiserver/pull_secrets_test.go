package apiserver_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	"k8s.io/utils/ptr"

	noderuntime "github.com/stint-dev/stint/internal/node/runtime"
)

// Accounts are read from a cache, which must not be older than what the client has been told.
func TestAPodGetsThePullSecretsThatItsAccountHasNow(t *testing.T) {
	r := start(t)
	core := r.clientset(t).CoreV1()
	ctx, cancel := context.WithCancel(t.Context())
	var busy, clients sync.WaitGroup
	// Without the wait, the cache is late about every other time: these take long to decode.
	for i := range 4 {
		busy.Go(func() { updateLarge(ctx, t, core, fmt.Sprint("large-", i)) })
	}
	for i := range 4 {
		clients.Go(func() { updateAndCreate(t, core, fmt.Sprint("account-", i)) })
	}
	clients.Wait()
	cancel()
	busy.Wait()
}

// updateLarge updates an account with thousands of annotations until ctx ends.
func updateLarge(ctx context.Context, t *testing.T, core corev1client.CoreV1Interface, name string) {
	large := map[string]string{}
	for i := range 5000 {
		large[fmt.Sprint("key-", i)] = "value"
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: large}}
	account, err := core.ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{})
	for i := 0; err == nil; i++ {
		account.Annotations["key-0"] = fmt.Sprint(i)
		account, err = core.ServiceAccounts("default").Update(ctx, account, metav1.UpdateOptions{})
	}
	if ctx.Err() == nil {
		t.Error(err)
	}
}

func updateAndCreate(t *testing.T, core corev1client.CoreV1Interface, name string) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	account, err := core.ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{})
	for i := 0; i < 20 && err == nil; i++ {
		newest := fmt.Sprint("secret-", i)
		account.ImagePullSecrets = []corev1.LocalObjectReference{{Name: newest}}
		if account, err = core.ServiceAccounts("default").Update(t.Context(), account, metav1.UpdateOptions{}); err != nil {
			break
		}
		var made *corev1.Pod
		if made, err = core.Pods("default").Create(t.Context(), imagePod(fmt.Sprint(name, "-", i), name), metav1.CreateOptions{}); err != nil {
			break
		}
		if got := made.Spec.ImagePullSecrets; len(got) != 1 || got[0].Name != newest {
			t.Errorf("pod %s has pull secrets %v, want %s", made.Name, got, newest)
		}
	}
	if err == nil {
		err = core.ServiceAccounts("default").Delete(t.Context(), name, metav1.DeleteOptions{})
	}
	if err == nil {
		wantNoSecrets(t, core, name)
	}
	if err != nil {
		t.Error(err)
	}
}

// wantNoSecrets creates a pod with an account that does not exist.
func wantNoSecrets(t *testing.T, core corev1client.CoreV1Interface, account string) {
	made, err := core.Pods("default").Create(t.Context(), imagePod(account+"-deleted", account), metav1.CreateOptions{})
	if err != nil {
		t.Error(err)
		return
	}
	if got := made.Spec.ImagePullSecrets; len(got) != 0 {
		t.Errorf("pod %s has pull secrets %v of an account that was deleted", made.Name, got)
	}
}

func TestPodsReadTheirAccountFromTheCache(t *testing.T) {
	r := start(t)
	before := readsOfAccounts(t)
	for i := range 10 {
		p := imagePod(fmt.Sprint("pod-", i), "default")
		must[*corev1.Pod](t)(r.clientset(t).CoreV1().Pods("default").Create(t.Context(), p, metav1.CreateOptions{}))
	}
	if after := readsOfAccounts(t); after != before {
		t.Errorf("10 pods took %d reads of accounts from the store", after-before)
	}
}

func imagePod(name, account string) *corev1.Pod {
	p := pod(name)
	p.Spec.ServiceAccountName = account
	p.Spec.RuntimeClassName = ptr.To(noderuntime.ClassOCI)
	p.Spec.Containers[0].Image = "worker:1"
	return p
}

// readsOfAccounts counts the ServiceAccounts that were read one by one from the store.
func readsOfAccounts(t *testing.T) (count uint64) {
	t.Helper()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "etcd_request_duration_seconds" {
			continue
		}
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["operation"] == "get" && labels["resource"] == "serviceaccounts" {
				count += m.GetHistogram().GetSampleCount()
			}
		}
	}
	return count
}
