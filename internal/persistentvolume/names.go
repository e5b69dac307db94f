package persistentvolume

const (
	// LocalClass is the StorageClass that always exists, and Provisioner what serves its claims.
	LocalClass  = "local"
	Provisioner = "stint.dev/local"
	// LocalVolumeFinalizer keeps a provisioned volume until its directory is removed, or is to be retained.
	LocalVolumeFinalizer = "stint.dev/local-volume"
	// ClaimProtection keeps a claim that pods use, VolumeProtection a volume that is bound to a claim.
	ClaimProtection  = "kubernetes.io/pvc-protection"
	VolumeProtection = "kubernetes.io/pv-protection"
)
