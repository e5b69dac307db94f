package pod

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/stint-dev/stint/internal/apiserver/registry/check"
)

const (
	maxCredentialSpec = 64 * 1024
	maxWindowsDomain  = 255
	maxWindowsUser    = 104
)

var (
	netBIOSDomain = regexp.MustCompile(`^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$`)
	dnsDomain     = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$`)
)

func validateWindowsOptions(o *corev1.WindowsSecurityContextOptions, p *field.Path) field.ErrorList {
	if o == nil {
		return nil
	}
	var errs field.ErrorList
	if o.GMSACredentialSpecName != nil {
		errs = append(errs, check.Subdomain(*o.GMSACredentialSpecName, p.Child("gmsaCredentialSpecName"))...)
	}
	if spec := o.GMSACredentialSpec; spec != nil && (*spec == "" || len(*spec) > maxCredentialSpec) {
		errs = append(errs, field.Invalid(p.Child("gmsaCredentialSpec"), *spec, fmt.Sprintf("must have between 1 and %d bytes", maxCredentialSpec)))
	}
	if o.RunAsUserName != nil {
		errs = append(errs, check.Invalid(p.Child("runAsUserName"), *o.RunAsUserName, windowsUserFaults(*o.RunAsUserName))...)
	}
	return errs
}

// windowsUserFaults returns the faults of a user name, USER or DOMAIN\USER.
func windowsUserFaults(name string) []string {
	domain, user, hasDomain := strings.Cut(name, `\`)
	if !hasDomain {
		domain, user = "", name
	}
	var faults []string
	for _, f := range []struct {
		wrong bool
		msg   string
	}{
		{user == "", "must name a user"},
		{strings.ContainsFunc(name, unicode.IsControl), "cannot contain control characters"},
		{strings.Contains(user, `\`), "cannot contain more than one backslash"},
		{hasDomain && !netBIOSDomain.MatchString(domain) && !dnsDomain.MatchString(domain), "has a domain that is neither NetBIOS's nor DNS's"},
		{len(domain) > maxWindowsDomain, fmt.Sprintf("has a domain of more than %d characters", maxWindowsDomain)},
		{len(user) > maxWindowsUser, fmt.Sprintf("has a user of more than %d characters", maxWindowsUser)},
		{user != "" && strings.Trim(user, ". ") == "", "has a user of periods and spaces only"},
		{strings.ContainsAny(user, `"/:;|=,+*?<>@[]`), `has a user with one of "/:;|=,+*?<>@[]`},
	} {
		if f.wrong {
			faults = append(faults, f.msg)
		}
	}
	return faults
}
