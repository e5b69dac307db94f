// Package english keeps kubectl's packages from loading their translations, which every start of the program would pay for:
// they use texts in variables of packages, and parse all of the default language for them. Stint's own texts are English, too.
package english

import "k8s.io/kubectl/pkg/util/i18n"

// Packages are initialized in the order of their paths, so this comes before all of kubectl's that use texts.
func init() {
	if err := i18n.SetLoadTranslationsFunc(func() error { return nil }); err != nil {
		panic(err)
	}
}
