package seccomp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
)

// deny is a profile that allows ioctl under conditions on its arguments, and denies all other calls.
func deny(args ...seccomp.Arg) seccomp.Profile {
	return seccomp.Profile{
		Default:       eperm,
		Architectures: []seccomp.Architecture{seccomp.X86},
		Rules:         []seccomp.Rule{{Names: []string{"ioctl"}, Action: allow, Args: args}},
	}
}

// Each operator is tested at its borders, where the upper or the lower half of the argument decides.
func TestOperators(t *testing.T) {
	const value = 5<<32 | 7
	for _, c := range []struct {
		op       seccomp.Operator
		value    uint64
		valueTwo uint64
		fits     []uint64
		fails    []uint64
	}{
		{op: seccomp.Equal, value: value, fits: []uint64{value}, fails: []uint64{0, 7, 5 << 32, value + 1, 6<<32 | 7}},
		{op: seccomp.NotEqual, value: value, fits: []uint64{0, 7, 5 << 32, value + 1}, fails: []uint64{value}},
		{op: seccomp.LessThan, value: value, fits: []uint64{0, 8, 4<<32 | 9, value - 1}, fails: []uint64{value, 6 << 32, value + 1}},
		{op: seccomp.LessOrEqual, value: value, fits: []uint64{0, 4<<32 | 9, value}, fails: []uint64{6 << 32, value + 1}},
		{op: seccomp.GreaterThan, value: value, fits: []uint64{6 << 32, value + 1, ^uint64(0)}, fails: []uint64{value, 9, 4<<32 | 9}},
		{op: seccomp.GreaterOrEqual, value: value, fits: []uint64{6 << 32, value}, fails: []uint64{value - 1, 9, 4<<32 | 9}},
		{op: seccomp.MaskedEqual, value: 0xf0, valueTwo: 0x20, fits: []uint64{0x20, 0x2f, 1<<40 | 0x120}, fails: []uint64{0, 0x30, 0x120 ^ 0x20}},
		{op: seccomp.MaskedEqual, value: 0xf << 32, valueTwo: 2 << 32, fits: []uint64{2 << 32, 0x12<<32 | 9}, fails: []uint64{2, 3 << 32}},
		{op: seccomp.MaskedEqual, value: 0, valueTwo: 0, fits: []uint64{0, 1, ^uint64(0)}},
		// The mask also applies to the value, as the manual of libseccomp says.
		{op: seccomp.MaskedEqual, value: 0xf0, valueTwo: 0x1ff, fits: []uint64{0xf0, 0xff}, fails: []uint64{0x1e0}},
	} {
		t.Run(fmt.Sprintf("%s %#x %#x", c.op, c.value, c.valueTwo), func(t *testing.T) {
			filter := compile(t, deny(seccomp.Arg{Index: 1, Op: c.op, Value: c.value, ValueTwo: c.valueTwo}), "amd64")
			for _, arg := range c.fits {
				if got := judge(t, filter, makeCall(seccomp.X86_64, "ioctl", 0, arg)); got != allow {
					t.Errorf("%#x does not fit", arg)
				}
			}
			for _, arg := range c.fails {
				if got := judge(t, filter, makeCall(seccomp.X86_64, "ioctl", 0, arg)); got != eperm {
					t.Errorf("%#x fits", arg)
				}
			}
		})
	}
}

// On 32-bit conventions a value of -1, which profiles write with 64 bits, must match an argument of 32 bits.
func TestArgumentsOf32Bits(t *testing.T) {
	filter := compile(t, deny(seccomp.Arg{Index: 0, Op: seccomp.Equal, Value: ^uint64(0)}), "amd64")
	for _, c := range []struct {
		call call
		want seccomp.Action
	}{
		{makeCall(seccomp.X86, "ioctl", 0xffffffff), allow},
		{makeCall(seccomp.X86, "ioctl", 0xfffffffe), eperm},
		{makeCall(seccomp.X86_64, "ioctl", 0xffffffff), eperm},
		{makeCall(seccomp.X86_64, "ioctl", ^uint64(0)), allow},
	} {
		if got := judge(t, filter, c.call); got != c.want {
			t.Errorf("%+v: %v, want %v", c.call, got, c.want)
		}
	}
}

// The table in the comment of Profile.Rules.
func TestRulesForOneCall(t *testing.T) {
	is := func(index uint, value uint64) seccomp.Arg {
		return seccomp.Arg{Index: index, Op: seccomp.Equal, Value: value}
	}
	rule := func(action seccomp.Action, args ...seccomp.Arg) seccomp.Rule {
		return seccomp.Rule{Names: []string{"ioctl"}, Action: action, Args: args}
	}
	for name, c := range map[string]struct {
		rules []seccomp.Rule
		args  []uint64
		want  seccomp.Action
	}{
		"alternatives, the first fits":           {[]seccomp.Rule{rule(allow, is(0, 1)), rule(allow, is(1, 2))}, []uint64{1, 0}, allow},
		"alternatives, the second fits":          {[]seccomp.Rule{rule(allow, is(0, 1)), rule(allow, is(1, 2))}, []uint64{0, 2}, allow},
		"alternatives, none fits":                {[]seccomp.Rule{rule(allow, is(0, 1)), rule(allow, is(1, 2))}, []uint64{0, 0}, eperm},
		"all arguments are needed":               {[]seccomp.Rule{rule(allow, is(0, 1), is(1, 2))}, []uint64{1, 0}, eperm},
		"all arguments are there":                {[]seccomp.Rule{rule(allow, is(0, 1), is(1, 2))}, []uint64{1, 2}, allow},
		"one argument twice means either":        {[]seccomp.Rule{rule(allow, is(0, 1), is(0, 2))}, []uint64{2}, allow},
		"one argument twice, neither fits":       {[]seccomp.Rule{rule(allow, is(0, 1), is(0, 2))}, []uint64{3}, eperm},
		"many values, the last fits":             {[]seccomp.Rule{rule(allow, is(0, 1)), rule(allow, is(0, 2)), rule(allow, is(0, 3))}, []uint64{3}, allow},
		"many values with different halves":      {[]seccomp.Rule{rule(allow, is(0, 1)), rule(allow, is(0, 1<<32|2))}, []uint64{2}, eperm},
		"no condition beats one":                 {[]seccomp.Rule{rule(enosys, is(0, 1)), rule(allow)}, []uint64{1}, allow},
		"no condition beats one that follows":    {[]seccomp.Rule{rule(allow), rule(enosys, is(0, 1))}, []uint64{1}, allow},
		"the first of two without conditions":    {[]seccomp.Rule{rule(allow), rule(enosys)}, nil, allow},
		"the default action says nothing":        {[]seccomp.Rule{rule(eperm), rule(allow, is(0, 1))}, []uint64{1}, allow},
		"the stricter one, if it comes last":     {[]seccomp.Rule{rule(allow, is(0, 1)), rule(enosys, is(1, 2))}, []uint64{1, 2}, enosys},
		"the stricter one, if it comes first":    {[]seccomp.Rule{rule(enosys, is(1, 2)), rule(allow, is(0, 1))}, []uint64{1, 2}, enosys},
		"the more lenient one where it is alone": {[]seccomp.Rule{rule(enosys, is(1, 2)), rule(allow, is(0, 1))}, []uint64{1, 3}, allow},
	} {
		t.Run(name, func(t *testing.T) {
			filter := compile(t, seccomp.Profile{Default: eperm, Rules: c.rules}, "amd64")
			if got := judge(t, filter, makeCall(seccomp.X86_64, "ioctl", c.args...)); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// Calls that no rule can name.
func TestCallsBeyondTheProfile(t *testing.T) {
	rules := []seccomp.Rule{{Names: []string{"read", "openat2", "no_such_call"}, Action: allow}}
	known, _ := seccomp.Numbers(seccomp.X86_64)
	silent := []seccomp.Rule{{Names: []string{"pidfd_getfd"}, Action: eperm}} // the number after openat2
	const x32Bit = 0x40000000
	for name, c := range map[string]struct {
		profile seccomp.Profile
		call    call
		want    seccomp.Action
	}{
		"older than the last rule":              {seccomp.Profile{Default: eperm, Rules: rules}, call{number: known["openat2"] - 1}, eperm},
		"the last rule":                         {seccomp.Profile{Default: eperm, Rules: rules}, call{number: known["openat2"]}, allow},
		"the last rule, which says nothing":     {seccomp.Profile{Default: eperm, Rules: append(silent, rules...)}, call{number: known["openat2"] + 1}, eperm},
		"newer than the rule that says nothing": {seccomp.Profile{Default: eperm, Rules: append(silent, rules...)}, call{number: known["openat2"] + 2}, enosys},
		"newer than the last rule":              {seccomp.Profile{Default: eperm, Rules: rules}, call{number: known["openat2"] + 1}, enosys},
		"newer than all":                        {seccomp.Profile{Default: eperm, Rules: rules}, call{number: 100_000}, enosys},
		"newer, where the default kills":        {seccomp.Profile{Default: seccomp.KillProcess, Rules: rules}, call{number: 100_000}, enosys},
		"newer, where the default allows":       {seccomp.Profile{Default: allow, Rules: rules}, call{number: 100_000}, allow},
		"newer, where the default logs":         {seccomp.Profile{Default: seccomp.Log, Rules: rules}, call{number: 100_000}, seccomp.Log},
		"newer, where there is no rule":         {seccomp.Profile{Default: eperm}, call{number: 100_000}, eperm},
		"x32":                                   {seccomp.Profile{Default: eperm, Rules: rules}, call{number: x32Bit}, enosys},
		"x32, where the default allows":         {seccomp.Profile{Default: allow, Rules: rules}, call{number: x32Bit}, enosys},
		"i386":                                  {seccomp.Profile{Default: allow, Rules: rules}, call{audit: unix.AUDIT_ARCH_I386}, seccomp.KillProcess},
		"another machine":                       {seccomp.Profile{Default: allow, Rules: rules}, call{audit: unix.AUDIT_ARCH_PPC64LE}, seccomp.KillProcess},
	} {
		t.Run(name, func(t *testing.T) {
			if c.call.audit == 0 {
				c.call.audit = unix.AUDIT_ARCH_X86_64
			}
			if got := judge(t, compile(t, c.profile, "amd64"), c.call); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// On 32-bit x86 a rule for socket also holds for socketcall.
func TestMultiplexedCalls(t *testing.T) {
	conditional := seccomp.Arg{Index: 0, Op: seccomp.Equal, Value: unix.AF_ALG}
	profile := func(standard, action seccomp.Action, name string, args ...seccomp.Arg) seccomp.Profile {
		return seccomp.Profile{Default: standard, Architectures: []seccomp.Architecture{seccomp.X86},
			Rules: []seccomp.Rule{{Names: []string{name}, Action: action, Args: args}}}
	}
	socket := makeCall(seccomp.X86, "socketcall", 1)
	listen := makeCall(seccomp.X86, "socketcall", 4)
	shmget := makeCall(seccomp.X86, "ipc", 23)
	shmgetVersion1 := makeCall(seccomp.X86, "ipc", 1<<16|23)
	for name, c := range map[string]struct {
		profile seccomp.Profile
		call    call
		want    seccomp.Action
	}{
		"an allowed call":                 {profile(eperm, allow, "socket"), socket, allow},
		"another call":                    {profile(eperm, allow, "socket"), listen, eperm},
		"a denied call":                   {profile(allow, eperm, "socket"), socket, eperm},
		"a call denied for some families": {profile(allow, eperm, "socket", conditional), socket, eperm},
		"a call allowed for some":         {profile(eperm, allow, "socket", conditional), socket, eperm},
		"without a number of its own":     {profile(eperm, allow, "accept"), makeCall(seccomp.X86, "socketcall", 5), allow},
		"ipc":                             {profile(allow, eperm, "shmget"), shmget, eperm},
		"ipc with a version":              {profile(allow, eperm, "shmget"), shmgetVersion1, eperm},
	} {
		t.Run(name, func(t *testing.T) {
			if got := judge(t, compile(t, c.profile, "amd64"), c.call); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// A program with long jumps, and one that is too long.
func TestLongProfiles(t *testing.T) {
	numbers, _ := seccomp.Numbers(seccomp.X86_64)
	long := func(args uint64) seccomp.Profile {
		p := seccomp.Profile{Default: eperm}
		for name, number := range numbers {
			for i := range args {
				p.Rules = append(p.Rules, seccomp.Rule{Names: []string{name}, Action: allow, Args: []seccomp.Arg{
					{Index: 2, Op: seccomp.MaskedEqual, Value: 0xffff_0000_ffff, ValueTwo: uint64(number)<<32 | i},
				}})
			}
		}
		return p
	}
	filter := compile(t, long(1), "amd64")
	if len(filter) < 2000 {
		t.Errorf("%d instructions are too few for this test", len(filter))
	}
	for name, number := range numbers {
		if got := judge(t, filter, makeCall(seccomp.X86_64, name, 0, 0, uint64(number)<<32)); got != allow {
			t.Errorf("%s: %v", name, got)
		}
		if got := judge(t, filter, makeCall(seccomp.X86_64, name, 0, 0, uint64(number+1)<<32)); got != eperm {
			t.Errorf("%s with another argument: %v", name, got)
		}
	}
	_, err := long(4).Compile(nil, seccomp.Host{Arch: "amd64"})
	if err == nil || !strings.Contains(err.Error(), "the kernel accepts 4096") {
		t.Errorf("a profile that is too long: %v", err)
	}
}

func TestUnknownMachine(t *testing.T) {
	if _, err := seccomp.RuntimeDefault().Compile(nil, seccomp.Host{Arch: "s390x"}); err == nil {
		t.Error("compiled for s390x")
	}
}

func BenchmarkCompile(b *testing.B) {
	host := seccomp.Host{Arch: "amd64"}
	for b.Loop() {
		if _, err := seccomp.RuntimeDefault().Compile(nil, host); err != nil {
			b.Fatal(err)
		}
	}
}
