package seccomp_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
)

// specified is a profile in the format of the OCI runtime specification.
const specified = `{
	"defaultAction": "SCMP_ACT_ERRNO",
	"defaultErrnoRet": 38,
	"architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86", "SCMP_ARCH_S390X"],
	"flags": ["SECCOMP_FILTER_FLAG_LOG", "SECCOMP_FILTER_FLAG_TSYNC"],
	"syscalls": [
		{"names": ["read", "write"], "action": "SCMP_ACT_ALLOW"},
		{"names": ["kill"], "action": "SCMP_ACT_KILL", "args": []},
		{
			"names": ["clone"], "action": "SCMP_ACT_ERRNO", "errnoRet": 13,
			"args": [{"index": 0, "value": 2114060288, "valueTwo": 1, "op": "SCMP_CMP_MASKED_EQ"}]
		}
	]
}`

// docker is a profile in the format of Docker and containers/common.
const docker = `{
	"defaultAction": "SCMP_ACT_ERRNO",
	"defaultErrnoRet": 38,
	"defaultErrno": "EACCES",
	"archMap": [
		{"architecture": "SCMP_ARCH_X86_64", "subArchitectures": ["SCMP_ARCH_X86", "SCMP_ARCH_X32"]},
		{"architecture": "SCMP_ARCH_RISCV64", "subArchitectures": null}
	],
	"syscalls": [
		{"name": "read", "action": "SCMP_ACT_ALLOW", "args": null, "comment": "", "includes": {}, "excludes": {}},
		{
			"names": ["bpf"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "errno": "EINVAL", "comment": "why",
			"includes": {"caps": ["CAP_BPF"], "arches": ["amd64"], "minKernel": "4.8"},
			"excludes": {"caps": ["CAP_SYS_ADMIN"], "minKernel": ""}
		}
	]
}`

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want seccomp.Profile
	}{
		"the notation of the specification": {specified, seccomp.Profile{
			Default:       enosys,
			Architectures: []seccomp.Architecture{seccomp.X86_64, seccomp.X86, "SCMP_ARCH_S390X"},
			Flags:         unix.SECCOMP_FILTER_FLAG_LOG,
			Rules: []seccomp.Rule{
				{Names: []string{"read", "write"}, Action: allow},
				{Names: []string{"kill"}, Action: seccomp.KillThread},
				{Names: []string{"clone"}, Action: seccomp.Errno(unix.EACCES), Args: []seccomp.Arg{
					{Index: 0, Value: 2114060288, ValueTwo: 1, Op: seccomp.MaskedEqual},
				}},
			},
		}},
		"the notation of Docker": {docker, seccomp.Profile{
			Default: seccomp.Errno(unix.EACCES),
			ArchitectureMap: map[seccomp.Architecture][]seccomp.Architecture{
				seccomp.X86_64: {seccomp.X86, seccomp.X32}, "SCMP_ARCH_RISCV64": nil,
			},
			Flags: unix.SECCOMP_FILTER_FLAG_SPEC_ALLOW,
			Rules: []seccomp.Rule{
				{Names: []string{"read"}, Action: allow},
				{
					Names: []string{"bpf"}, Action: seccomp.Errno(unix.EINVAL),
					Includes: seccomp.Condition{Caps: []string{"CAP_BPF"}, Arches: []string{"amd64"},
						MinKernel: seccomp.Kernel{Version: 4, Major: 8}},
					Excludes: seccomp.Condition{Caps: []string{"CAP_SYS_ADMIN"}},
				},
			},
		}},
		"as little as possible": {`{"defaultAction": "SCMP_ACT_LOG", "flags": []}`, seccomp.Profile{Default: seccomp.Log}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, parse(t, c.text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	rule := func(fields string) string {
		return `{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{` + fields + `}]}`
	}
	for name, c := range map[string]struct{ text, want string }{
		"what is no JSON":                 {`{`, "unexpected end"},
		"more than one document":          {`{"defaultAction": "SCMP_ACT_LOG"} {}`, "after top-level value"},
		"an unknown field":                {`{"defaultAction": "SCMP_ACT_LOG", "sysCalls": []}`, `"sysCalls"`},
		"an unknown field of a rule":      {rule(`"names": ["x"], "action": "SCMP_ACT_LOG", "arg": []`), `"syscalls[0].arg"`},
		"a field that is there twice":     {`{"defaultAction": "SCMP_ACT_LOG", "defaultAction": "SCMP_ACT_ALLOW"}`, `"defaultAction"`},
		"no default action":               {`{}`, "defaultAction: missing"},
		"an unknown default action":       {`{"defaultAction": "ALLOW"}`, `defaultAction: unknown action "ALLOW"`},
		"an action that traces":           {`{"defaultAction": "SCMP_ACT_TRACE"}`, "needs a tracer"},
		"an action that asks":             {rule(`"names": ["x"], "action": "SCMP_ACT_NOTIFY"`), "syscalls[0].action: SCMP_ACT_NOTIFY is not supported: it needs an agent"},
		"a listener":                      {`{"defaultAction": "SCMP_ACT_ALLOW", "listenerPath": "/x"}`, "listenerPath"},
		"no action":                       {rule(`"names": ["x"]`), `syscalls[0].action: unknown action ""`},
		"no names":                        {rule(`"action": "SCMP_ACT_LOG"`), "syscalls[0].names: missing"},
		"name and names":                  {rule(`"name": "x", "names": ["x"], "action": "SCMP_ACT_LOG"`), "syscalls[0].name: only one"},
		"an error number that is unused":  {rule(`"names": ["x"], "action": "SCMP_ACT_LOG", "errnoRet": 1`), "syscalls[0].action: SCMP_ACT_LOG takes no error number"},
		"a large error number":            {`{"defaultAction": "SCMP_ACT_ERRNO", "defaultErrnoRet": 65537}`, "defaultAction: error number 65537"},
		"an unknown error":                {`{"defaultAction": "SCMP_ACT_ERRNO", "defaultErrno": "EOOPS"}`, `"EOOPS"`},
		"an argument too far":             {rule(`"names": ["x"], "action": "SCMP_ACT_LOG", "args": [{"index": 6, "op": "SCMP_CMP_EQ"}]`), "syscalls[0].args[0].index: 6"},
		"an unknown operator":             {rule(`"names": ["x"], "action": "SCMP_ACT_LOG", "args": [{"index": 0, "op": "EQ"}]`), `syscalls[0].args[0].op: unknown operator "EQ"`},
		"a negative value":                {rule(`"names": ["x"], "action": "SCMP_ACT_LOG", "args": [{"index": 0, "op": "SCMP_CMP_EQ", "value": -1}]`), "value"},
		"an unknown architecture":         {`{"defaultAction": "SCMP_ACT_LOG", "architectures": ["x86"]}`, `architectures[0]: unknown architecture "x86"`},
		"one in the map":                  {`{"defaultAction": "SCMP_ACT_LOG", "archMap": [{"architecture": "x86"}]}`, "archMap[0]"},
		"both notations of architectures": {`{"defaultAction": "SCMP_ACT_LOG", "architectures": ["SCMP_ARCH_ARM"], "archMap": [{"architecture": "SCMP_ARCH_ARM"}]}`, "only one of them"},
		"an unknown flag":                 {`{"defaultAction": "SCMP_ACT_LOG", "flags": ["FAST"]}`, `flags[0]: unknown flag "FAST"`},
		"a flag for listeners":            {`{"defaultAction": "SCMP_ACT_LOG", "flags": ["SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"]}`, "SCMP_ACT_NOTIFY"},
		"what is no kernel":               {rule(`"names": ["x"], "action": "SCMP_ACT_LOG", "excludes": {"minKernel": "4"}`), "syscalls[0].excludes.minKernel"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := seccomp.Parse([]byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want an error with %q", err, c.want)
			}
		})
	}
}

// Which rules apply depends on capabilities, machine and kernel.
func TestConditions(t *testing.T) {
	for name, c := range map[string]struct {
		includes, excludes string
		caps               []string
		want               bool
	}{
		"none":                            {want: true},
		"all capabilities are there":      {includes: `"caps": ["A", "B"]`, caps: []string{"A", "B", "C"}, want: true},
		"one capability is not there":     {includes: `"caps": ["A", "B"]`, caps: []string{"A"}},
		"this machine":                    {includes: `"arches": ["arm64", "amd64"]`, want: true},
		"another machine":                 {includes: `"arches": ["arm64"]`},
		"this kernel":                     {includes: `"minKernel": "6.1"`, want: true},
		"an older kernel":                 {includes: `"minKernel": "4.8"`, want: true},
		"a newer kernel":                  {includes: `"minKernel": "6.10"`},
		"an excluded capability":          {excludes: `"caps": ["A", "B"]`, caps: []string{"B"}},
		"no excluded capability":          {excludes: `"caps": ["A", "B"]`, caps: []string{"C"}, want: true},
		"this machine is excluded":        {excludes: `"arches": ["amd64"]`},
		"another machine is excluded":     {excludes: `"arches": ["arm64"]`, want: true},
		"this kernel is excluded":         {excludes: `"minKernel": "6.0"`},
		"only a newer kernel is excluded": {excludes: `"minKernel": "7.0"`, want: true},
		"included and excluded":           {includes: `"caps": ["A"]`, excludes: `"caps": ["B"]`, caps: []string{"A", "B"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := parse(t, `{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"names": ["mount", "mseal"], "action":
				"SCMP_ACT_ALLOW", "includes": {`+c.includes+`}, "excludes": {`+c.excludes+`}}]}`)
			got := judge(t, compile(t, p, "amd64", c.caps...), makeCall(seccomp.X86_64, "mount"))
			if (got == allow) != c.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// Whatever a profile contains, Parse and Compile do not panic, and their result is a valid program.
func FuzzParse(f *testing.F) {
	f.Add([]byte(specified), uint32(56), uint64(1))
	f.Add([]byte(docker), uint32(321), uint64(0))
	f.Add([]byte(`{"defaultAction": "SCMP_ACT_ERRNO", "syscalls": [{"name": "x", "action": "SCMP_ACT_TRAP",
		"args": [{"index": 5, "value": 18446744073709551615, "op": "SCMP_CMP_NE"}]}]}`), uint32(0), uint64(1<<63))
	f.Fuzz(func(t *testing.T, text []byte, number uint32, arg uint64) {
		p, err := seccomp.Parse(text)
		if err != nil {
			return
		}
		filter, err := p.Compile([]string{"CAP_BPF"}, seccomp.Host{Arch: "amd64"})
		if err != nil {
			return // too long
		}
		for _, audit := range []uint32{unix.AUDIT_ARCH_X86_64, unix.AUDIT_ARCH_I386} {
			if _, _, err := run(filter, call{number, audit, [6]uint64{arg, arg, arg, arg, arg, arg}}); err != nil {
				t.Error(err)
			}
		}
	})
}
