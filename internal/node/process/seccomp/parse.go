package seccomp

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
	kjson "sigs.k8s.io/json"
)

// document is a profile in JSON: the specification's fields and those that Docker and containers/common add.
type document struct {
	DefaultAction    string         `json:"defaultAction"`
	DefaultErrnoRet  *uint          `json:"defaultErrnoRet"`
	DefaultErrno     string         `json:"defaultErrno"`
	Architectures    []Architecture `json:"architectures"`
	ArchMap          []archDocument `json:"archMap"`
	Flags            []string       `json:"flags"`
	ListenerPath     string         `json:"listenerPath"`
	ListenerMetadata string         `json:"listenerMetadata"`
	Syscalls         []ruleDocument `json:"syscalls"`
}

type archDocument struct {
	Architecture     Architecture   `json:"architecture"`
	SubArchitectures []Architecture `json:"subArchitectures"`
}

type ruleDocument struct {
	Name     string            `json:"name"`
	Names    []string          `json:"names"`
	Action   string            `json:"action"`
	ErrnoRet *uint             `json:"errnoRet"`
	Errno    string            `json:"errno"`
	Args     []argDocument     `json:"args"`
	Comment  string            `json:"comment"`
	Includes conditionDocument `json:"includes"`
	Excludes conditionDocument `json:"excludes"`
}

type argDocument struct {
	Index    uint     `json:"index"`
	Value    uint64   `json:"value"`
	ValueTwo uint64   `json:"valueTwo"`
	Op       Operator `json:"op"`
}

type conditionDocument struct {
	Caps      []string `json:"caps"`
	Arches    []string `json:"arches"`
	MinKernel string   `json:"minKernel"`
}

// Parse parses a profile. Anything unknown in it is an error that says where it is: to ignore a rule silently would weaken
// the profile.
func Parse(text []byte) (Profile, error) {
	var doc document
	strictErrors, err := kjson.UnmarshalStrict(text, &doc)
	if err != nil {
		return Profile{}, err
	}
	if len(strictErrors) > 0 {
		return Profile{}, errors.Join(strictErrors...)
	}
	return doc.profile()
}

func (d document) profile() (Profile, error) {
	var p Profile
	var err error
	if d.DefaultAction == "" {
		return Profile{}, errors.New("defaultAction: missing")
	}
	if p.Default, err = parseActionOf(d.DefaultAction, d.DefaultErrnoRet, d.DefaultErrno); err != nil {
		return Profile{}, fmt.Errorf("defaultAction: %w", err)
	}
	if d.ListenerPath != "" || d.ListenerMetadata != "" {
		return Profile{}, errors.New("listenerPath and listenerMetadata are not supported: they belong to SCMP_ACT_NOTIFY")
	}
	if p.Flags, err = parseFlags(d.Flags); err != nil {
		return Profile{}, err
	}
	if err := d.architectures(&p); err != nil {
		return Profile{}, err
	}
	for i, doc := range d.Syscalls {
		rule, err := doc.rule()
		if err != nil {
			return Profile{}, fmt.Errorf("syscalls[%d].%w", i, err)
		}
		p.Rules = append(p.Rules, rule)
	}
	return p, nil
}

// architectures parses the calling conventions, which a profile may have in one of two formats.
func (d document) architectures(p *Profile) error {
	if len(d.Architectures) > 0 && len(d.ArchMap) > 0 {
		return errors.New("architectures and archMap: only one of them may be set")
	}
	for i, name := range d.Architectures {
		if !name.known() {
			return fmt.Errorf("architectures[%d]: unknown architecture %q", i, name)
		}
	}
	p.Architectures = d.Architectures
	for i, entry := range d.ArchMap {
		for _, name := range append([]Architecture{entry.Architecture}, entry.SubArchitectures...) {
			if !name.known() {
				return fmt.Errorf("archMap[%d]: unknown architecture %q", i, name)
			}
		}
		if p.ArchitectureMap == nil {
			p.ArchitectureMap = map[Architecture][]Architecture{}
		}
		p.ArchitectureMap[entry.Architecture] = entry.SubArchitectures
	}
	return nil
}

// rule parses one rule. Errors begin with the field that is wrong.
func (d ruleDocument) rule() (Rule, error) {
	rule := Rule{Names: d.Names}
	if d.Name != "" {
		if len(d.Names) > 0 {
			return Rule{}, errors.New("name: only one of name and names may be set")
		}
		rule.Names = []string{d.Name}
	}
	if len(rule.Names) == 0 {
		return Rule{}, errors.New("names: missing")
	}
	var err error
	if rule.Action, err = parseActionOf(d.Action, d.ErrnoRet, d.Errno); err != nil {
		return Rule{}, fmt.Errorf("action: %w", err)
	}
	for i, arg := range d.Args {
		if arg.Index >= maxArgs {
			return Rule{}, fmt.Errorf("args[%d].index: %d is not below %d", i, arg.Index, maxArgs)
		}
		if !arg.Op.known() {
			return Rule{}, fmt.Errorf("args[%d].op: unknown operator %q", i, arg.Op)
		}
		rule.Args = append(rule.Args, Arg{Index: arg.Index, Op: arg.Op, Value: arg.Value, ValueTwo: arg.ValueTwo})
	}
	if rule.Includes, err = d.Includes.condition(); err != nil {
		return Rule{}, fmt.Errorf("includes.%w", err)
	}
	if rule.Excludes, err = d.Excludes.condition(); err != nil {
		return Rule{}, fmt.Errorf("excludes.%w", err)
	}
	return rule, nil
}

func (d conditionDocument) condition() (Condition, error) {
	kernel, err := parseKernel(d.MinKernel)
	if err != nil {
		return Condition{}, fmt.Errorf("minKernel: %w", err)
	}
	return Condition{Caps: d.Caps, Arches: d.Arches, MinKernel: kernel}, nil
}

// parseActionOf parses an action with its error number. In profiles of containers/common the number may also be given by
// name, and then the name decides.
func parseActionOf(action string, number *uint, name string) (Action, error) {
	if name != "" {
		found := errnoByName(name)
		if found == 0 {
			return 0, fmt.Errorf("unknown error number %q", name)
		}
		number = &found
	}
	return parseAction(action, number)
}

// errnoByName is the number of an error, 0 if there is none of that name.
func errnoByName(name string) uint {
	for number := range unix.Errno(largestErrno + 1) {
		if number != 0 && unix.ErrnoName(number) == name {
			return uint(number)
		}
	}
	return 0
}
