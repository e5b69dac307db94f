package persistentvolume

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"
)

// ClaimObservation is all that a decision about a claim depends on.
type ClaimObservation struct {
	Claim *corev1.PersistentVolumeClaim
	Class Class
	// DefaultClass is the name of the default class, empty if there is none.
	DefaultClass string
	// Volume is the one that the claim names, nil if the claim names none or it does not exist.
	Volume *corev1.PersistentVolume
	// Candidates are the volumes that name the claim, and those of its class that name none.
	Candidates []*corev1.PersistentVolume
	// Node is the only node, nil if there is none.
	Node *corev1.Node
	// HasConsumer is set if a pod waits for the claim.
	HasConsumer bool
	// CanProvision is set on a server that can make local volumes.
	CanProvision bool
}

// ClaimAction is what is to be done about a claim.
type ClaimAction int

// The actions.
const (
	// Wait leaves the claim unbound.
	Wait ClaimAction = iota
	// Bind binds the claim to Volume, or completes the binding.
	Bind
	// Provision makes a volume for the claim and binds it.
	Provision
	// SetClass gives the claim the class Class.
	SetClass
	// Lose marks the claim as one that has lost its volume.
	Lose
	// Ignore leaves the claim as it is.
	Ignore
)

// ClaimDecision is what is to be done about a claim.
type ClaimDecision struct {
	Action ClaimAction
	Volume *corev1.PersistentVolume
	Class  string
	// Provisioner is not empty if another program is to make the volume.
	Provisioner string
	Event       Event
}

// IsBound reports whether the claim was bound to a volume once.
func IsBound(c *corev1.PersistentVolumeClaim) bool {
	return metav1.HasAnnotation(c.ObjectMeta, storagevolume.AnnBindCompleted)
}

// DecideClaim decides about a claim.
func DecideClaim(o ClaimObservation) ClaimDecision {
	switch {
	case IsBound(o.Claim):
		return o.bound()
	case o.Claim.DeletionTimestamp != nil:
		return ClaimDecision{Action: Ignore}
	case o.Claim.Spec.VolumeName != "":
		return o.prebound()
	}
	return o.unbound()
}

func (o *ClaimObservation) bound() ClaimDecision {
	switch {
	case o.Claim.Spec.VolumeName == "":
		return lose("ClaimLost", "The claim was bound and does not name its volume any more")
	case o.Volume == nil:
		return lose("ClaimLost", fmt.Sprintf("The volume %q of the claim does not exist any more, and its data is lost", o.Claim.Spec.VolumeName))
	case isFree(o.Volume) || storagevolume.IsVolumeBoundToClaim(o.Volume, o.Claim):
		return ClaimDecision{Action: Bind, Volume: o.Volume}
	}
	return lose("ClaimMisbound", fmt.Sprintf("The volume %q of the claim is bound to another claim", o.Claim.Spec.VolumeName))
}

func lose(reason, message string) ClaimDecision {
	return ClaimDecision{Action: Lose, Event: warning(reason, message)}
}

func (o *ClaimObservation) prebound() ClaimDecision {
	name := o.Claim.Spec.VolumeName
	switch {
	case o.Volume == nil:
		return ClaimDecision{Event: normal("FailedBinding", fmt.Sprintf("persistentvolume %q not found", name))}
	case o.Volume.DeletionTimestamp != nil:
		return ClaimDecision{Event: normal("FailedBinding", fmt.Sprintf("persistentvolume %q is being deleted", name))}
	case !isFree(o.Volume) && !storagevolume.IsVolumeBoundToClaim(o.Volume, o.Claim):
		return ClaimDecision{Event: warning("FailedBinding", fmt.Sprintf("volume %q already bound to a different claim", name))}
	}
	if why := mismatch(o.Volume, o.Claim); why != "" && isFree(o.Volume) {
		return ClaimDecision{Event: warning("VolumeMismatch", fmt.Sprintf("Cannot bind to requested volume %q: %s", name, why))}
	}
	return ClaimDecision{Action: Bind, Volume: o.Volume}
}

func (o *ClaimObservation) unbound() ClaimDecision {
	volume, err := o.match()
	switch {
	case err != nil:
		return ClaimDecision{Event: warning("FailedBinding", err.Error())}
	case volume != nil:
		return ClaimDecision{Action: Bind, Volume: volume}
	case !storagevolume.PersistentVolumeClaimHasClass(o.Claim) && o.DefaultClass != "":
		return ClaimDecision{Action: SetClass, Class: o.DefaultClass}
	case o.Class.waitsForConsumer() && !o.HasConsumer:
		return ClaimDecision{Event: normal("WaitForFirstConsumer", "waiting for first consumer to be created before binding")}
	case o.Class.waitsForConsumer() && o.CanProvision && o.Node == nil:
		return ClaimDecision{} // Volumes choose their nodes, and the node is not registered yet.
	case o.Class.Name != "":
		return o.provision()
	}
	return ClaimDecision{Event: normal("FailedBinding", "no persistent volumes available for this claim and no storage class is set")}
}

// match returns the volume that names the claim or, unless the claim still waits for a consumer, the smallest that fits.
func (o *ClaimObservation) match() (*corev1.PersistentVolume, error) {
	// The library leaves the access modes to its callers. Of volumes of the same size, it returns the first.
	slices.SortFunc(o.Candidates, func(a, b *corev1.PersistentVolume) int { return cmp.Compare(a.Name, b.Name) })
	candidates := slices.DeleteFunc(o.Candidates, func(v *corev1.PersistentVolume) bool { return !storagevolume.CheckAccessModes(o.Claim, v) })
	waits := o.Class.waitsForConsumer()
	var node *corev1.Node
	if waits && o.HasConsumer {
		node = o.Node
	}
	return storagevolume.FindMatchingVolume(o.Claim, candidates, node, nil, waits, true)
}

func (o *ClaimObservation) provision() ClaimDecision {
	class := o.Class
	switch {
	case class.isLocal():
		if why := o.unprovisionable(); why != "" {
			return failed(why)
		}
		return ClaimDecision{Action: Provision}
	case class.Object == nil:
		return failed(fmt.Sprintf("storageclass.storage.k8s.io %q not found; %s", class.Name, class.remedy()))
	case class.Object.Provisioner == storagevolume.NotSupportedProvisioner:
		return failed(fmt.Sprintf("no persistent volume of storage class %q fits this claim, and the class makes none; create one", class.Name))
	}
	by := class.Object.Provisioner
	return ClaimDecision{Provisioner: by, Event: normal("ExternalProvisioning",
		fmt.Sprintf("Waiting for a volume to be created by the external provisioner %q; %s", by, class.remedy()))}
}

func (c Class) remedy() string {
	return fmt.Sprintf("start the server with --local-storage-classes %s to serve the class with local directories", c.Name)
}

func failed(why string) ClaimDecision { return ClaimDecision{Event: ProvisioningFailed(why)} }

// ProvisioningFailed is the event about a claim for which no volume can be made.
func ProvisioningFailed(why string) Event { return warning("ProvisioningFailed", why) }

// ProvisioningSucceeded is the event about a claim for which a volume was made.
func ProvisioningSucceeded(v *corev1.PersistentVolume) Event {
	return normal("ProvisioningSucceeded", "Successfully provisioned volume "+v.Name)
}

// ErrNoNode is why a server cannot make volumes.
var ErrNoNode = errors.New("this server has no node, so it makes no volumes")

// unprovisionable returns why no local volume can be made for the claim.
func (o *ClaimObservation) unprovisionable() string {
	spec := &o.Claim.Spec
	switch {
	case !o.CanProvision:
		return ErrNoNode.Error()
	case spec.Selector != nil:
		return "a claim with a selector is only bound to volumes that exist; create one, or remove spec.selector"
	case spec.VolumeMode != nil && *spec.VolumeMode != corev1.PersistentVolumeFilesystem:
		return "local volumes are directories; set spec.volumeMode to Filesystem"
	case spec.DataSource != nil || spec.DataSourceRef != nil:
		return "local volumes begin empty; remove spec.dataSource and spec.dataSourceRef"
	}
	return ""
}
