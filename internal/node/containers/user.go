package containers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/stint-dev/stint/internal/beneath"
	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// userFor returns the user that the container runs as; nil is the user of the server.
func (m *Maker) userFor(api *corev1.Pod, c *corev1.Container) (*runtime.User, error) {
	uid, gid, nonRoot := identity(api, c)
	if nonRoot && (uid == nil && os.Getuid() == 0 || uid != nil && *uid == 0) {
		return nil, errors.New("runAsNonRoot is set but the container would run as root; set runAsUser")
	}
	groups := groupsOf(api.Spec.SecurityContext)
	if uid == nil && gid == nil && len(groups) == 0 {
		return nil, nil
	}
	u := &runtime.User{UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Groups: groups}
	if uid != nil {
		u.UID, u.GID = uint32(*uid), primaryGroup(*uid)
	}
	if gid != nil {
		u.GID = uint32(*gid)
	}
	if !m.isolation.CanSetUser {
		// Check has refused any user and group but the server's own.
		return nil, nil
	}
	return u, nil
}

// identity returns the user, the group and runAsNonRoot. The container's security context takes precedence over the
// pod's.
func identity(api *corev1.Pod, c *corev1.Container) (uid, gid *int64, nonRoot bool) {
	var runAsNonRoot *bool
	if s := api.Spec.SecurityContext; s != nil {
		uid, gid, runAsNonRoot = s.RunAsUser, s.RunAsGroup, s.RunAsNonRoot
	}
	if s := c.SecurityContext; s != nil {
		uid, gid, runAsNonRoot = either(s.RunAsUser, uid), either(s.RunAsGroup, gid), either(s.RunAsNonRoot, runAsNonRoot)
	}
	return uid, gid, runAsNonRoot != nil && *runAsNonRoot
}

func either[T any](first, second *T) *T {
	if first != nil {
		return first
	}
	return second
}

func groupsOf(s *corev1.PodSecurityContext) []uint32 {
	if s == nil {
		return nil
	}
	var groups []uint32
	for _, g := range s.SupplementalGroups {
		groups = append(groups, uint32(g))
	}
	if s.FSGroup != nil {
		groups = append(groups, uint32(*s.FSGroup))
	}
	return groups
}

// sharerFor returns the function that gives a volume of the pod to its fsGroup; nil if volumes are not shared.
func (m *Maker) sharerFor(api *corev1.Pod) func(context.Context, string, beneath.Share) error {
	s := api.Spec.SecurityContext
	switch {
	case s == nil || s.FSGroup == nil:
		return nil
	case os.Geteuid() == 0:
		return beneath.ShareAt
	case runtime.HandlerOf(api) == runtime.ClassOCI && m.isolation.CanShareVolumes && *s.FSGroup < int64(m.isolation.ImageIDs):
		// Only the runtime can assign subordinate ids. It refuses to start containers with a group outside of them.
		return m.Runtime.ShareVolume
	}
	return nil
}

// primaryGroup returns the primary group of the user's account. A user without an account gets the group of the same
// number: root's group, which it would get in an image, has too many rights on the machine.
func primaryGroup(uid int64) uint32 {
	known, err := user.LookupId(strconv.FormatInt(uid, 10))
	if err != nil {
		return uint32(uid)
	}
	gid, err := strconv.ParseUint(known.Gid, 10, 32)
	if err != nil {
		return uint32(uid)
	}
	return uint32(gid)
}

// envFor returns the resolver for the environment of a container that runs as u.
func (m *Maker) envFor(u *runtime.User) env.Resolver {
	if u == nil || int(u.UID) == os.Getuid() {
		return m.Env
	}
	// account is nil for a user without an account, who has no home.
	account, _ := user.LookupId(strconv.FormatUint(uint64(u.UID), 10))
	return m.Env.As(account)
}

// checkUser returns why the container cannot run as the user or group that it asks for.
func (m *Maker) checkUser(api *corev1.Pod, c *corev1.Container) error {
	if m.isolation.Of(runtime.HandlerOf(api)).CanSetUser {
		return nil
	}
	uid, gid, _ := identity(api, c)
	if uid != nil && *uid != int64(os.Getuid()) {
		return fmt.Errorf("container %s: runAsUser %d is not possible: the server runs as user %d and cannot switch to another", c.Name, *uid, os.Getuid())
	}
	if gid != nil && *gid != int64(os.Getgid()) {
		return fmt.Errorf("container %s: runAsGroup %d is not possible: the server runs as group %d and cannot switch to another", c.Name, *gid, os.Getgid())
	}
	return nil
}

func noNewPrivileges(c *corev1.Container) bool {
	s := c.SecurityContext
	return s != nil && s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation
}
