package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/env"
	"github.com/stint-dev/stint/internal/node/images"
	"github.com/stint-dev/stint/internal/node/lifecycle"
	"github.com/stint-dev/stint/internal/node/runtime"
)

// imageOf returns the container's image, or an *images.Waiting.
func (n *Node) imageOf(ctx context.Context, p *pod, api *corev1.Pod, spec *corev1.Container) (*images.Image, error) {
	if n.images == nil {
		return nil, errors.New("images cannot be run here: " + n.WhyNoImages)
	}
	return n.images.Get(ctx, images.Request{
		Pod: p.uid, Image: spec.Image, Policy: spec.ImagePullPolicy, Since: p.wanted(spec.Name), Secrets: n.pullSecrets(ctx, p, api),
	})
}

// fromImage has the container run from its image.
func (n *Node) fromImage(c *runtime.Container, image *images.Image, api *corev1.Pod, spec *corev1.Container, vars *env.Vars) error {
	user, err := imageUser(image, api, spec)
	if err != nil {
		return err
	}
	c.User = &runtime.User{UID: user.UID, GID: user.GID, Groups: n.imageGroups(user, api)}
	if c.Command, err = image.Command(vars.ExpandAll(spec.Command), vars.ExpandAll(spec.Args)); err != nil {
		return err
	}
	if c.StopSignal, err = image.StopSignal(); err != nil {
		return err
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
	filter, err := n.filters.of(api, spec, capabilities)
	if err != nil {
		return err
	}
	c.Root = &runtime.Root{
		Tree: image.Tree, ImageID: image.ImageID(), Files: nameFiles(api),
		ReadOnly:   ptr.Deref(securityOf(spec).ReadOnlyRootFilesystem, false),
		Privileged: isPrivileged(spec),
		Unmasked: isPrivileged(spec) ||
			ptr.Deref(securityOf(spec).ProcMount, corev1.DefaultProcMount) == corev1.UnmaskedProcMount,
		HostPID: api.Spec.HostPID, HostIPC: api.Spec.HostIPC,
		SharePIDs:    ptr.Deref(api.Spec.ShareProcessNamespace, false),
		Sysctls:      sysctlsOf(api),
		Capabilities: capabilities, Seccomp: filter.instructions, SeccompFlags: filter.flags,
	}
	return nil
}

func sysctlsOf(api *corev1.Pod) map[string]string {
	sysctls := map[string]string{}
	for _, s := range ptr.Deref(api.Spec.SecurityContext, corev1.PodSecurityContext{}).Sysctls {
		sysctls[runtime.SysctlName(s.Name)] = s.Value
	}
	return sysctls
}

// imageGroups are those that the container's user has beside its own.
func (n *Node) imageGroups(user images.User, api *corev1.Pod) []uint32 {
	s := ptr.Deref(api.Spec.SecurityContext, corev1.PodSecurityContext{})
	if n.isolation.ImageIDs == 1 {
		// Volumes belong to the one user there is, whom fsGroup need not let in. Other groups are for the runtime to refuse.
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

// imageUser is whom the container runs as: whom the pod asks for, or else the image's user.
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

const hostsFile = "/etc/hosts"

// nameFiles are the files that tell a container its name and how to find others. Its network is the machine's, and so is
// what these hold, as for pods of a cluster with hostNetwork.
func nameFiles(api *corev1.Pod) map[string]string {
	files := map[string]string{"/etc/hostname": hostname(api) + "\n"}
	for _, path := range []string{hostsFile, "/etc/resolv.conf"} {
		text, err := os.ReadFile(path)
		if err == nil {
			files[path] = string(text)
		}
	}
	files[hostsFile] += hostAliases(api.Spec.HostAliases)
	return files
}

// hostAliases are the lines of a hosts file for the names that the pod adds.
func hostAliases(aliases []corev1.HostAlias) string {
	var lines strings.Builder
	for _, a := range aliases {
		fmt.Fprintf(&lines, "%s\t%s\n", a.IP, strings.Join(a.Hostnames, "\t"))
	}
	if lines.Len() == 0 {
		return ""
	}
	return "\n# Entries added by HostAliases.\n" + lines.String()
}

// wanted is when the container was to be started first.
func (p *pod) wanted(container string) (since time.Time) {
	if since, ok := p.wantedSince[container]; ok {
		return since
	}
	if p.wantedSince == nil {
		p.wantedSince = map[string]time.Time{}
	}
	p.wantedSince[container] = now()
	return p.wantedSince[container]
}

// awaitImage has the start tried again when the image may be there.
func (n *Node) awaitImage(p *pod, api *corev1.Pod, s lifecycle.Start, w *images.Waiting) {
	if p.hindrances == nil {
		p.hindrances = map[string]lifecycle.Hindrance{}
	}
	p.hindrances[s.Container.Name] = lifecycle.Hindrance{Reason: w.Reason, Message: w.Message, RetryAt: w.RetryAt}
	if w.Reason == images.ReasonCreating {
		return
	}
	kind, reason := corev1.EventTypeWarning, "Failed"
	if w.Reason == images.ReasonBackOff {
		kind, reason = corev1.EventTypeNormal, "BackOff"
	}
	n.Recorder.Eventf(api, kind, reason, "%s", w.Message)
}

// imagePulled has a pod that has waited for an image try again.
func (n *Node) imagePulled(uid types.UID) {
	if p := n.pods.get(uid); p != nil {
		p.refresh()
		n.queue.Add(uid)
	}
}

// announcePull writes the events that a kubelet writes of pulls.
func (n *Node) announcePull(uid types.UID, e images.Event) {
	switch {
	case e.Begins:
		n.pullBegins()
	case e.Failure == nil:
		n.imageAdded()
	}
	p := n.pods.get(uid)
	if p == nil {
		return
	}
	api, _ := p.current()
	switch {
	case api == nil:
	case e.Begins:
		n.Recorder.Eventf(api, corev1.EventTypeNormal, "Pulling", "Pulling image %q", e.Image)
	case e.Failure != nil:
		n.Recorder.Eventf(api, corev1.EventTypeWarning, "Failed", "Failed to pull image %q: %v", e.Image, e.Failure)
	default:
		n.Recorder.Eventf(api, corev1.EventTypeNormal, "Pulled", "Successfully pulled image %q in %s. Image size: %d bytes.",
			e.Image, e.Took.Round(1e6), e.Size)
	}
}
