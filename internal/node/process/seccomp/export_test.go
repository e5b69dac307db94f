package seccomp

// Numbers are the calls of a calling convention by name, with the offset that it adds to all of them.
func Numbers(name Architecture) (numbers map[string]uint32, offset uint32) {
	for _, all := range hosts {
		for _, one := range all {
			if one.name == name {
				return one.numbers(), one.offset
			}
		}
	}
	panic("no such calling convention: " + name)
}

// Multiplexer returns the call through which another one can be made on 32-bit x86, and the condition on its first argument.
func Multiplexer(name string) (via string, first Arg, exists bool) {
	way, exists := x86Multiplexed[name]
	return way.via, way.condition(), exists
}

// Active returns the rules of a profile that apply to a container on a machine, without their conditions.
func Active(p Profile, caps []string, host Host) []Rule {
	var rules []Rule
	for _, rule := range p.Rules {
		if rule.applies(caps, host) {
			rules = append(rules, Rule{Names: rule.Names, Action: rule.Action, Args: rule.Args})
		}
	}
	return rules
}
