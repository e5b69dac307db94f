package containers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// imageOf returns the container's image, or an *images.Waiting.
func (m *Maker) imageOf(ctx context.Context, s Start) (*images.Image, error) {
	if m.Images == nil {
		return nil, errors.New("images cannot be run here: " + m.WhyNoImages)
	}
	return m.Images.Get(ctx, images.Request{
		Pod: s.Pod.UID, Image: s.Spec.Image, Policy: s.Spec.ImagePullPolicy, Since: s.Since, Secrets: m.pullSecrets(ctx, s),
	})
}

// imageContainer sets what comes from the image: command, environment, user and root file system.
func (m *Maker) imageContainer(c *runtime.Container, image *images.Image, s Start, vars *env.Vars) error {
	api, spec := s.Pod, s.Spec
	user, err := imageUser(image, api, spec)
	if err != nil {
		return err
	}
	c.User = &runtime.User{UID: user.UID, GID: user.GID, Groups: m.imageGroups(user, api)}
	if c.Command, err = image.Command(vars.ExpandAll(spec.Command), vars.ExpandAll(spec.Args)); err != nil {
		return err
	}
	if c.StopSignal == 0 {
		if c.StopSignal, err = image.StopSignal(); err != nil {
			return err
		}
	}
	c.Env = image.Environ(vars.Pairs())
	if !slices.ContainsFunc(c.Env, func(pair string) bool { return strings.HasPrefix(pair, "HOME=") }) {
		c.Env = append(c.Env, "HOME="+user.Home)
	}
	if c.WorkingDir == "" {
		c.WorkingDir = image.Config.WorkingDir
	}
	capabilities, err := capabilitiesOf(spec)
	if err != nil {
		return err
	}
	filter, err := m.filters.of(api, spec, capabilities)
	if err != nil {
		return err
	}
	c.Root = &runtime.Root{
		Tree: image.Tree, ImageID: image.ImageID(), Files: m.files(s), Owner: ownerOf(api),
		ReadOnly:   ptr.Deref(securityOf(spec).ReadOnlyRootFilesystem, false),
		Privileged: isPrivileged(spec),
		Unmasked: isPrivileged(spec) ||
			ptr.Deref(securityOf(spec).ProcMount, corev1.DefaultProcMount) == corev1.UnmaskedProcMount,
		HostPID: api.Spec.HostPID, HostIPC: api.Spec.HostIPC,
		SharePIDs:    ptr.Deref(api.Spec.ShareProcessNamespace, false),
		PIDsOf:       pidsOf(s),
		Sysctls:      sysctlsOf(api),
		Capabilities: capabilities, Seccomp: filter.instructions, SeccompFlags: filter.flags,
	}
	return nil
}

// ownerOf names the pods that may share what a container has left unchanged: those of the same controller. A pod can claim any controller,
// but none of another namespace.
func ownerOf(api *corev1.Pod) string {
	owner := api.UID
	if controller := metav1.GetControllerOf(api); controller != nil {
		owner = controller.UID
	}
	return api.Namespace + "/" + string(owner)
}

// pidsOf returns the attempt whose process ids the container is to share, unless it shares more already.
func pidsOf(s Start) *runtime.ID {
	if s.Pod.Spec.HostPID || ptr.Deref(s.Pod.Spec.ShareProcessNamespace, false) {
		return nil
	}
	return s.Target
}

func sysctlsOf(api *corev1.Pod) map[string]string {
	sysctls := map[string]string{}
	for _, s := range ptr.Deref(api.Spec.SecurityContext, corev1.PodSecurityContext{}).Sysctls {
		sysctls[runtime.SysctlName(s.Name)] = s.Value
	}
	return sysctls
}

// imageGroups returns the supplemental groups of the container's user.
func (m *Maker) imageGroups(user images.User, api *corev1.Pod) []uint32 {
	s := ptr.Deref(api.Spec.SecurityContext, corev1.PodSecurityContext{})
	if m.isolation.ImageIDs == 1 {
		// There is only one user id, and it owns the volumes, so fsGroup is not needed. The runtime refuses other
		// groups.
		s.FSGroup, user.Groups = nil, nil
	}
	if ptr.Deref(s.SupplementalGroupsPolicy, "") == corev1.SupplementalGroupsPolicyStrict {
		user.Groups = nil
	}
	return slices.Concat(user.Groups, groupsOf(&s))
}

func securityOf(c *corev1.Container) corev1.SecurityContext {
	return ptr.Deref(c.SecurityContext, corev1.SecurityContext{})
}

// imageUser returns the user that the container runs as: the one that the pod asks for, or else the image's.
func imageUser(image *images.Image, api *corev1.Pod, spec *corev1.Container) (images.User, error) {
	uid, gid, nonRoot := identity(api, spec)
	user, err := image.User(uid, gid)
	switch {
	case err != nil:
		return user, err
	case nonRoot && uid == nil && user.Named:
		return user, fmt.Errorf("container has runAsNonRoot and image has non-numeric user (%s), cannot verify user is non-root: set runAsUser",
			image.Config.User)
	case nonRoot && user.UID == 0:
		return user, errors.New("container has runAsNonRoot and image will run as root: set runAsUser to a user who is not root")
	}
	return user, nil
}
