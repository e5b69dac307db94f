package main

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/stint-dev/stint/test/wild/report"
)

// checkStart returns an error if a container was started otherwise than its manifest and its image say.
func (t *trial) checkStart(ctx context.Context, s report.Started, pod *corev1.Pod, c *corev1.Container) error {
	env, err := t.environment(ctx, pod, c)
	if err != nil {
		return err
	}
	return errors.Join(checkArgs(s, c, env), checkEnv(s, env, t.job.pod(), c), checkUser(s, t.job.pod(), c), checkMounts(s, t.job.pod(), c),
		differ("directory", s.Dir, dirOf(c.WorkingDir)))
}

func differ(what string, got, want any) error {
	if fmt.Sprint(got) == fmt.Sprint(want) {
		return nil
	}
	return fmt.Errorf("%s is %q, want %q", what, got, want)
}

func checkArgs(s report.Started, c *corev1.Container, env map[string]string) error {
	want := slices.Concat(expandAll(c.Command, env), expandAll(c.Args, env))
	switch {
	case len(c.Command) == 0 && len(c.Args) == 0:
		want = slices.Concat(imageEntrypoint, imageCommand)
	case len(c.Command) == 0:
		want = slices.Concat(imageEntrypoint, want)
	}
	got := s.Args
	if len(c.Command) > 0 && isMounted(c, c.Command[0]) {
		// A script of a volume is run by its interpreter, which has it among its own arguments.
		got = got[max(0, len(got)-len(want)):]
	}
	if !slices.EqualFunc(got, want, isLike) {
		return fmt.Errorf("arguments are %q, want %q", s.Args, want)
	}
	return nil
}

// anyValue is in place of a value that only the node knows.
const anyValue = "\x00any"

// isLike reports whether got is want, except for values that only the node knows.
func isLike(got, want string) bool {
	before, after, unknown := strings.Cut(want, anyValue)
	return got == want || unknown && strings.HasPrefix(got, before) && strings.HasSuffix(got, after)
}

// environment returns the environment that the manifest gives a container.
func (t *trial) environment(ctx context.Context, pod *corev1.Pod, c *corev1.Container) (map[string]string, error) {
	env := map[string]string{}
	if index, ok := pod.Annotations["batch.kubernetes.io/job-completion-index"]; ok {
		env["JOB_COMPLETION_INDEX"] = index
	}
	for _, from := range c.EnvFrom {
		var data map[string]string
		var err error
		switch {
		case from.ConfigMapRef != nil:
			data, err = t.configMap(ctx, from.ConfigMapRef.Name)
		case from.SecretRef != nil:
			data, err = t.secret(ctx, from.SecretRef.Name)
		}
		if err != nil {
			return nil, err
		}
		for k, v := range data {
			env[from.Prefix+k] = v
		}
	}
	for _, e := range c.Env {
		value, err := t.value(ctx, e, env)
		if err != nil {
			return nil, err
		}
		env[e.Name] = value
	}
	return env, nil
}

func (t *trial) value(ctx context.Context, e corev1.EnvVar, env map[string]string) (string, error) {
	from := e.ValueFrom
	switch {
	case from == nil:
		return expand(e.Value, env), nil
	case from.ConfigMapKeyRef != nil:
		data, err := t.configMap(ctx, from.ConfigMapKeyRef.Name)
		return data[from.ConfigMapKeyRef.Key], err
	case from.SecretKeyRef != nil:
		data, err := t.secret(ctx, from.SecretKeyRef.Name)
		return data[from.SecretKeyRef.Key], err
	}
	return anyValue, nil
}

func (t *trial) configMap(ctx context.Context, name string) (map[string]string, error) {
	o, err := t.server.CoreV1().ConfigMaps(t.namespace).Get(ctx, name, metav1.GetOptions{})
	return o.Data, err
}

func (t *trial) secret(ctx context.Context, name string) (map[string]string, error) {
	o, err := t.server.CoreV1().Secrets(t.namespace).Get(ctx, name, metav1.GetOptions{})
	data := map[string]string{}
	for k, v := range o.Data {
		data[k] = string(v)
	}
	return data, err
}

// expand replaces $(NAME) as Kubernetes documents it.
func expand(text string, env map[string]string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		name, rest, closed := strings.Cut(strings.TrimPrefix(after, "("), ")")
		value, known := env[name]
		switch {
		case strings.HasPrefix(after, "$"):
			b.WriteString("$")
			text = after[1:]
		case strings.HasPrefix(after, "(") && closed && known:
			b.WriteString(value)
			text = rest
		default:
			b.WriteString("$")
			text = after
		}
	}
}

func expandAll(texts []string, env map[string]string) []string {
	var all []string
	for _, t := range texts {
		all = append(all, expand(t, env))
	}
	return all
}

func checkEnv(s report.Started, env map[string]string, pod *corev1.PodSpec, c *corev1.Container) error {
	got := map[string]string{}
	for _, pair := range s.Env {
		name, value, _ := strings.Cut(pair, "=")
		got[name] = value
	}
	// Where process ids are shared, Stint finds a container's processes by this variable.
	delete(got, "STINT_CONTAINER")
	want := map[string]string{"HOME": homeOf(pod, c), "HOSTNAME": s.Host}
	for _, pair := range imageEnv {
		name, value, _ := strings.Cut(pair, "=")
		want[name] = value
	}
	for name, value := range env {
		want[name] = value
	}
	var errs []error
	for name, value := range want {
		if !isLike(got[name], value) {
			errs = append(errs, differ("variable "+name, got[name], value))
		}
		delete(got, name)
	}
	for name := range got {
		errs = append(errs, fmt.Errorf("variable %s is from nowhere", name))
	}
	return errors.Join(errs...)
}

func userOf(pod *corev1.PodSpec, c *corev1.Container) (uid, gid int64) {
	uid, gid = imageUser, imageUser
	var security []*int64
	var groups []*int64
	if s := pod.SecurityContext; s != nil {
		security, groups = append(security, s.RunAsUser), append(groups, s.RunAsGroup)
	}
	if s := c.SecurityContext; s != nil {
		security, groups = append(security, s.RunAsUser), append(groups, s.RunAsGroup)
	}
	for _, asked := range security {
		if asked != nil {
			uid, gid = *asked, 0 // a user that the image does not know is in root's group
		}
	}
	if uid == imageUser {
		gid = imageUser
	}
	for _, asked := range groups {
		if asked != nil {
			gid = *asked
		}
	}
	return uid, gid
}

func homeOf(pod *corev1.PodSpec, c *corev1.Container) string {
	switch uid, _ := userOf(pod, c); uid {
	case 0:
		return "/root"
	case imageUser:
		return imageHome
	}
	return "/"
}

func checkUser(s report.Started, pod *corev1.PodSpec, c *corev1.Container) error {
	uid, gid := userOf(pod, c)
	err := errors.Join(differ("user", s.UID, uid), differ("group", s.GID, gid))
	if pod.SecurityContext != nil && pod.SecurityContext.FSGroup != nil && !slices.Contains(s.Groups, int(*pod.SecurityContext.FSGroup)) {
		err = errors.Join(err, fmt.Errorf("groups are %v, without fsGroup %d", s.Groups, *pod.SecurityContext.FSGroup))
	}
	return err
}

func checkMounts(s report.Started, pod *corev1.PodSpec, c *corev1.Container) error {
	var errs []error
	for _, m := range c.VolumeMounts {
		files, ok := s.Mounts[path.Clean(m.MountPath)]
		if !ok && !strings.HasPrefix(m.MountPath, "/proc") && !strings.HasPrefix(m.MountPath, "/sys") {
			errs = append(errs, fmt.Errorf("nothing is mounted at %s", m.MountPath))
		}
		for _, want := range filesOf(pod, m) {
			if !slices.Contains(files, want) {
				errs = append(errs, fmt.Errorf("%s holds %q, without %s", m.MountPath, files, want))
			}
		}
	}
	return errors.Join(errs...)
}

// filesOf returns the files that a volume must have, as far as the manifest names them.
func filesOf(pod *corev1.PodSpec, m corev1.VolumeMount) []string {
	if m.SubPath != "" || m.SubPathExpr != "" {
		return nil
	}
	at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
	if at < 0 {
		return nil
	}
	var items []corev1.KeyToPath
	switch v := pod.Volumes[at]; {
	case v.ConfigMap != nil:
		items = v.ConfigMap.Items
	case v.Secret != nil:
		items = v.Secret.Items
	}
	var files []string
	for _, i := range items {
		first, _, _ := strings.Cut(i.Path, "/")
		files = append(files, first)
	}
	return files
}
