package results

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// neverBegun returns an error if the container has no log, as an init container of the pod failed before it. The error
// names the init container.
func (c *Selected) neverBegun(job *batchv1.Job, container string) error {
	spec := &job.Spec.Template.Spec
	named := func(name string) func(corev1.Container) bool {
		return func(c corev1.Container) bool { return c.Name == name }
	}
	failed := slices.IndexFunc(spec.InitContainers, named(c.Pod.Container))
	main := slices.ContainsFunc(spec.Containers, named(container))
	if c.Pod.Phase != corev1.PodFailed || !main || failed < 0 || spec.InitContainers[failed].RestartPolicy != nil {
		return nil
	}
	return fmt.Errorf("container %s was never started in %s, since init container %s failed: choose container %s",
		container, c, c.Pod.Container, c.Pod.Container)
}
