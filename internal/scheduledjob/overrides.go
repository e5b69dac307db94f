package scheduledjob

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
)

// Override changes the containers of a template for one run. An init container changes only if o names it.
func Override(template *corev1.PodTemplateSpec, o *stintv1.Overrides) error {
	if o == nil {
		return nil
	}
	changed, err := overridden(&template.Spec, o.Container)
	if err != nil {
		return err
	}
	for _, c := range changed {
		c.Env = replaceEnv(c.Env, o.Env)
	}
	if len(o.Args) > 0 && len(changed) > 0 {
		changed[0].Args = slices.Clone(o.Args)
	}
	return nil
}

// overridden returns the containers to change: the one of this name, or all but init containers if name is empty.
func overridden(spec *corev1.PodSpec, name string) ([]*corev1.Container, error) {
	var all []*corev1.Container
	for i := range spec.Containers {
		all = append(all, &spec.Containers[i])
	}
	if name == "" {
		return all, nil
	}
	for i := range spec.InitContainers {
		all = append(all, &spec.InitContainers[i])
	}
	for _, c := range all {
		if c.Name == name {
			return []*corev1.Container{c}, nil
		}
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	return nil, fmt.Errorf("overrides: there is no container %q: the template has %s", name, strings.Join(names, ", "))
}

// replaceEnv replaces variables of the same name in place, and adds the others at the end.
func replaceEnv(env, more []corev1.EnvVar) []corev1.EnvVar {
	env = slices.Clone(env)
	for _, v := range more {
		i := slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == v.Name })
		if i < 0 {
			env = append(env, *v.DeepCopy())
			continue
		}
		env[i] = *v.DeepCopy()
	}
	return env
}
