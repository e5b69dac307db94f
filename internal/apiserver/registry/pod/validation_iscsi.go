package pod

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// iscsiName matches a qualified name (iqn), an IEEE identifier (eui) or a network address authority identifier (naa): see
// RFC 3720, 3.2.6.
var iscsiName = regexp.MustCompile(`^(iqn\.\d{4}-\d{2}\.[[:alnum:]-.]+(:[^,;*&$|\s]+)$|eui\.[[:alnum:]]{16}$|naa\.[[:alnum:]]{32}$)`)

const iscsiNameForm = "must be a name such as iqn.2001-04.com.example:disk1, or start with eui. or naa."

func validateISCSI(v *corev1.ISCSIVolumeSource, p *field.Path) field.ErrorList {
	errs := requireAll(p, value{"targetPortal", v.TargetPortal}, value{"iqn", v.IQN})
	if v.IQN != "" && !iscsiName.MatchString(v.IQN) {
		errs = append(errs, field.Invalid(p.Child("iqn"), v.IQN, iscsiNameForm))
	}
	if v.InitiatorName != nil && !iscsiName.MatchString(*v.InitiatorName) {
		errs = append(errs, field.Invalid(p.Child("initiatorName"), *v.InitiatorName, iscsiNameForm))
	}
	errs = append(errs, upTo255(v.Lun, p.Child("lun"))...)
	if (v.DiscoveryCHAPAuth || v.SessionCHAPAuth) && v.SecretRef == nil {
		errs = append(errs, field.Required(p.Child("secretRef"), "must be set for CHAP authentication"))
	}
	return errs
}
