package model_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	jobregistry "github.com/stint-dev/stint/internal/apiserver/registry/job"
	podregistry "github.com/stint-dev/stint/internal/apiserver/registry/pod"
)

const (
	namespace = "ns"
	// grace is what pods have to end.
	grace = 30
)

var (
	jobs    = batchv1.Resource("jobs")
	pods    = corev1.Resource("pods")
	results = stintv1.SchemeGroupVersion.WithResource("resultslices").GroupResource()
	jobKind = jobregistry.Resource(podregistry.Options{})
)

// server is an API server without anything around it: versions, preconditions, finalizers and graceful deletion are as
// on a real one, and Jobs go through the rules of the real one. It does one thing at a time and tells the watcher of
// each write.
type server struct {
	version int
	made    int
	jobs    *table[*batchv1.Job]
	pods    *table[*corev1.Pod]
	slices  *table[*stintv1.ResultSlice]
	// wrote is told of every write, before the next one.
	wrote func(jobWas, jobIs *batchv1.Job, podWas, podIs *corev1.Pod)
}

func newServer() *server {
	return &server{version: 1, jobs: newTable[*batchv1.Job](), pods: newTable[*corev1.Pod](),
		slices: newTable[*stintv1.ResultSlice]()}
}

func (s *server) next(o metav1.Object) int {
	s.version++
	o.SetResourceVersion(strconv.Itoa(s.version))
	return s.version
}

func now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }

func (s *server) createJob(j *batchv1.Job) (*batchv1.Job, error) {
	s.made++
	j = j.DeepCopy()
	j.Namespace, j.UID, j.CreationTimestamp = namespace, types.UID(fmt.Sprintf("job-%d", s.made)), now()
	jobKind.Default(j)
	jobKind.PrepareForCreate(context.Background(), j)
	if errs := jobKind.Validate(context.Background(), j); len(errs) > 0 {
		return nil, apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), j.Name, errs)
	}
	s.jobs.put(s.next(j), j)
	s.wrote(nil, j, nil, nil)
	return j, nil
}

// updateJob changes the spec as a user does.
func (s *server) updateJob(name string, edit func(*batchv1.Job)) error {
	was := s.jobs.objects[name]
	is := was.DeepCopy()
	edit(is)
	jobKind.Default(is)
	jobKind.PrepareForUpdate(context.Background(), is, was)
	if errs := jobKind.ValidateUpdate(context.Background(), is, was); len(errs) > 0 {
		return apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), name, errs)
	}
	s.putJob(was, is)
	return nil
}

func (s *server) putJob(was, is *batchv1.Job) {
	version := s.next(is)
	if is.DeletionTimestamp != nil && len(is.Finalizers) == 0 {
		s.jobs.drop(version, is)
		s.wrote(was, nil, nil, nil)
		return
	}
	s.jobs.put(version, is)
	s.wrote(was, is, nil, nil)
}

func (s *server) updateJobStatus(j *batchv1.Job) (*batchv1.Job, error) {
	was := s.jobs.objects[j.Name]
	switch {
	case was == nil:
		return nil, apierrors.NewNotFound(jobs, j.Name)
	case was.UID != j.UID:
		return nil, apierrors.NewConflict(jobs, j.Name, fmt.Errorf("the UID is %s, not %s", was.UID, j.UID))
	case was.ResourceVersion != j.ResourceVersion:
		return nil, apierrors.NewConflict(jobs, j.Name, fmt.Errorf("the version is %s, not %s", was.ResourceVersion, j.ResourceVersion))
	}
	is := was.DeepCopy()
	is.Status = *j.Status.DeepCopy()
	if errs := jobKind.Status.ValidateUpdate(context.Background(), is, was); len(errs) > 0 {
		return nil, apierrors.NewInvalid(batchv1.SchemeGroupVersion.WithKind("Job").GroupKind(), j.Name, errs)
	}
	s.putJob(was, is)
	return is, nil
}

// deleteJob begins what the garbage collector (gc) ends.
func (s *server) deleteJob(name string, how metav1.DeletionPropagation) {
	was := s.jobs.objects[name]
	is := was.DeepCopy()
	is.DeletionTimestamp = ptr.To(now())
	switch how {
	case metav1.DeletePropagationForeground:
		is.Finalizers = append(is.Finalizers, metav1.FinalizerDeleteDependents)
	case metav1.DeletePropagationOrphan:
		is.Finalizers = append(is.Finalizers, metav1.FinalizerOrphanDependents)
	}
	s.putJob(was, is)
}

func (s *server) createPod(p *corev1.Pod) (*corev1.Pod, error) {
	s.made++
	p = p.DeepCopy()
	if p.Name == "" {
		p.Name = p.GenerateName + strconv.Itoa(s.made)
	}
	p.Namespace, p.UID, p.CreationTimestamp = namespace, types.UID(fmt.Sprintf("pod-%d", s.made)), now()
	p.Status = corev1.PodStatus{Phase: corev1.PodPending}
	s.pods.put(s.next(p), p)
	s.wrote(nil, nil, nil, p)
	return p, nil
}

func (s *server) pod(name string, uid types.UID) (*corev1.Pod, error) {
	p := s.pods.objects[name]
	if p == nil || p.UID != uid {
		return nil, apierrors.NewNotFound(pods, name)
	}
	return p, nil
}

// modifyPod applies a change of metadata, as a patch of lists that merge by key would.
func (s *server) modifyPod(observed *corev1.Pod, edit func(*corev1.Pod)) (*corev1.Pod, error) {
	was, err := s.pod(observed.Name, observed.UID)
	if err != nil {
		return nil, err
	}
	is := was.DeepCopy()
	edit(is)
	is.Finalizers = unique(is.Finalizers, func(f string) string { return f })
	is.OwnerReferences = unique(is.OwnerReferences, func(r metav1.OwnerReference) types.UID { return r.UID })
	controllers := 0
	for _, r := range is.OwnerReferences {
		if ptr.Deref(r.Controller, false) {
			controllers++
		}
	}
	if controllers > 1 {
		return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), is.Name, nil)
	}
	if was.DeletionTimestamp != nil && len(is.Finalizers) > len(was.Finalizers) {
		return nil, apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Pod").GroupKind(), is.Name, nil)
	}
	s.putPod(was, is)
	if _, there := s.pods.objects[is.Name]; !there {
		// It went with the change, which got no version of its own.
		is = is.DeepCopy()
		is.ResourceVersion = was.ResourceVersion
	}
	return is, nil
}

func unique[T any, K comparable](list []T, key func(T) K) []T {
	seen := map[K]bool{}
	return slices.DeleteFunc(list, func(x T) bool {
		double := seen[key(x)]
		seen[key(x)] = true
		return double
	})
}

// setPod changes a pod as a kubelet or a user may.
func (s *server) setPod(was *corev1.Pod, edit func(*corev1.Pod)) {
	is := was.DeepCopy()
	edit(is)
	s.putPod(was, is)
}

func (s *server) putPod(was, is *corev1.Pod) {
	version := s.next(is)
	if is.DeletionTimestamp != nil && len(is.Finalizers) == 0 && ptr.Deref(is.DeletionGracePeriodSeconds, 0) == 0 {
		s.pods.drop(version, is)
		s.wrote(nil, nil, was, nil)
		return
	}
	s.pods.put(version, is)
	s.wrote(nil, nil, was, is)
}

// deletePod tells a pod to end. One that is on no node, or has ended, or whose grace is 0, goes as soon as its
// finalizers allow.
func (s *server) deletePod(name string, uid types.UID, seconds int64) error {
	was, err := s.pod(name, uid)
	if err != nil {
		return err
	}
	if was.Spec.NodeName == "" || ended(was) {
		seconds = 0
	}
	if was.DeletionTimestamp != nil && seconds >= *was.DeletionGracePeriodSeconds {
		return nil
	}
	s.setPod(was, func(p *corev1.Pod) {
		p.DeletionTimestamp = ptr.To(metav1.NewTime(now().Add(time.Duration(seconds) * time.Second)))
		p.DeletionGracePeriodSeconds = &seconds
	})
	return nil
}

func ended(p *corev1.Pod) bool {
	return p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed
}
