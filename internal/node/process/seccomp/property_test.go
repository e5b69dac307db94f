package seccomp_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stint-dev/stint/internal/node/process/seccomp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

var hostConventions = map[string][]seccomp.Architecture{
	"amd64": {seccomp.X86_64, seccomp.X86, seccomp.X32},
	"arm64": {seccomp.AArch64, seccomp.ARM},
}

// interesting are argument values close to one another, so that arguments are often at the borders of conditions.
func interesting() *rapid.Generator[uint64] {
	half := rapid.SampledFrom([]uint64{0, 1, 2, 3, 4, 23, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff})
	return rapid.Custom(func(t *rapid.T) uint64 {
		if rapid.IntRange(0, 9).Draw(t, "any") == 0 {
			return rapid.Uint64().Draw(t, "value")
		}
		return half.Draw(t, "upper")<<32 | half.Draw(t, "lower")
	})
}

func someAction() *rapid.Generator[seccomp.Action] {
	return rapid.SampledFrom([]seccomp.Action{allow, allow, allow, eperm, eperm, enosys, seccomp.Errno(0),
		seccomp.Log, seccomp.Trap, seccomp.KillThread, seccomp.KillProcess})
}

// someName is a call of any machine. It is often one of a few, so that several rules are for the same call.
func someName() *rapid.Generator[string] {
	all := map[string]bool{"no_such_call": true}
	for _, on := range slices.Concat(hostConventions["amd64"], hostConventions["arm64"]) {
		numbers, _ := seccomp.Numbers(on)
		for name := range numbers {
			all[name] = true
		}
	}
	few := []string{"read", "ioctl", "socket", "socketcall", "accept", "shmget", "ipc", "clone", "clone3", "set_tls"}
	return rapid.OneOf(rapid.SampledFrom(few), rapid.SampledFrom(slices.Sorted(maps.Keys(all))))
}

func someRule(names *rapid.Generator[string]) *rapid.Generator[seccomp.Rule] {
	operators := rapid.SampledFrom([]seccomp.Operator{seccomp.NotEqual, seccomp.LessThan, seccomp.LessOrEqual,
		seccomp.Equal, seccomp.Equal, seccomp.GreaterOrEqual, seccomp.GreaterThan, seccomp.MaskedEqual})
	return rapid.Custom(func(t *rapid.T) seccomp.Rule {
		rule := seccomp.Rule{
			Names:  rapid.SliceOfN(names, 1, 5).Draw(t, "names"),
			Action: someAction().Draw(t, "action"),
		}
		for range rapid.SampledFrom([]int{0, 0, 1, 1, 2, 3}).Draw(t, "conditions") {
			rule.Args = append(rule.Args, seccomp.Arg{
				Index:    uint(rapid.SampledFrom([]int{0, 0, 1, 5}).Draw(t, "index")),
				Op:       operators.Draw(t, "op"),
				Value:    interesting().Draw(t, "value"),
				ValueTwo: interesting().Draw(t, "valueTwo"),
			})
		}
		return rule
	})
}

// someCall is mostly a call for which the profile has a rule.
func someCall(p seccomp.Profile, host string) *rapid.Generator[call] {
	return rapid.Custom(func(t *rapid.T) call {
		on := rapid.SampledFrom(hostConventions[host]).Draw(t, "convention")
		numbers, offset := seccomp.Numbers(on)
		var named []uint32
		for _, rule := range p.Rules {
			for _, name := range rule.Names {
				if number, exists := numbers[name]; exists {
					named = append(named, number)
				}
				if via, _, exists := seccomp.Multiplexer(name); exists && on == seccomp.X86 {
					named = append(named, numbers[via])
				}
			}
		}
		c := call{audit: audits[on], number: offset + uint32(rapid.IntRange(0, 600).Draw(t, "number"))}
		if len(named) > 0 && rapid.IntRange(0, 3).Draw(t, "any number") > 0 {
			number := rapid.SampledFrom(named).Draw(t, "named")
			c.number = offset + number + uint32(rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "beside"))
		}
		switch rapid.IntRange(0, 20).Draw(t, "strange") {
		case 0:
			c.number = rapid.Uint32().Draw(t, "any number")
		case 1:
			c.audit = rapid.SampledFrom([]uint32{0, unix.AUDIT_ARCH_I386, unix.AUDIT_ARCH_ARM}).Draw(t, "any audit")
		}
		for i := range c.args {
			c.args[i] = interesting().Draw(t, "argument")
		}
		return c
	})
}

// For every call a program has the same verdict as evaluate.
func TestProgramsSayWhatProfilesSay(t *testing.T) {
	names := someName()
	rapid.Check(t, func(t *rapid.T) {
		host := rapid.SampledFrom([]string{"amd64", "arm64"}).Draw(t, "host")
		p := seccomp.Profile{
			Default:       someAction().Draw(t, "default"),
			Architectures: rapid.SliceOfDistinct(rapid.SampledFrom(hostConventions[host]), rapid.ID).Draw(t, "architectures"),
			Rules:         rapid.SliceOfN(someRule(names), 0, 60).Draw(t, "rules"),
		}
		filter, err := p.Compile(nil, seccomp.Host{Arch: host})
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			c := someCall(p, host).Draw(t, "call")
			got, _, err := run(filter, c)
			if err != nil {
				t.Fatal(err)
			}
			if want := evaluate(p, host, c); got != want {
				t.Fatalf("%+v: the program says %v, the profile %v", c, got, want)
			}
		}
	})
}

// No jump leads out of a program or back, because the kernel would refuse the program.
func TestProgramsAreWellFormed(t *testing.T) {
	names := someName()
	rapid.Check(t, func(t *rapid.T) {
		p := seccomp.Profile{Default: someAction().Draw(t, "default"), Architectures: hostConventions["amd64"],
			Rules: rapid.SliceOfN(someRule(names), 0, 150).Draw(t, "rules")}
		filter, err := p.Compile(nil, seccomp.Host{Arch: "amd64"})
		if err != nil {
			t.Fatal(err)
		}
		for at, one := range filter {
			farthest := max(int(one.Jt), int(one.Jf))
			if one.Code == unix.BPF_JMP|unix.BPF_JA {
				farthest = int(one.K)
			}
			isReturn := one.Code == unix.BPF_RET|unix.BPF_K
			if !isReturn && at+1+farthest >= len(filter) {
				t.Fatalf("instruction %d of %d leads out of the program: %+v", at, len(filter), one)
			}
		}
	})
}
