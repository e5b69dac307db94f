package main

// ofLogins are faults by which the login of a registry gets to others.
var ofLogins = []fault{
	{
		wrong: "What a registry says is shown although it repeats the login.",
		file:  "internal/image/registry/errors.go",
		old:   "		if secrets.Repeated(one.said) {\n",
		new:   "		if false {\n",
		tests: "./internal/image/registry -run ^TestNoErrorRepeatsTheLogin$",
	},
	{
		wrong: "The error of a layer is shown although a name in it repeats the login.",
		file:  "internal/image/pull/pull.go",
		old:   "image.WithoutSecrets(err)",
		new:   "err",
		tests: "./internal/image/pull -run ^TestNoErrorOfALayerRepeatsTheLogin$",
	},
	{
		wrong: "A log quotes what a registry sends unasked.",
		file:  "internal/cli/main.go",
		old:   "	command.LogStandard(problems)\n",
		new:   "	command.LogLibraries(0)\n",
		tests: "./internal/cli -run ^TestNoLogQuotes",
	},
	{
		wrong: "The error of a connection is left out where a user is called like a word of it.",
		file:  "internal/image/registry/reasons.go",
		old:   "		return number.Error(), op.Addr.String()\n",
		new:   "		return \"\", op.Error()\n",
		tests: "./internal/image/registry -run ^TestErrorsOfThisMachine",
	},
	{
		wrong: "What a registry says with a denial is shown.",
		file:  "internal/image/registry/endpoint.go",
		old:   "	if isDenial(resp.StatusCode) {\n",
		new:   "	if false {\n",
		tests: "./internal/image/registry -run ^TestADenialIsToldInOwnWords$",
	},
	{
		wrong: "A token that a token server has given is no secret.",
		file:  "internal/image/registry/login.go",
		old:   "	g.secrets.AddRequest(req)\n",
		new:   "",
		tests: "./internal/image/registry -run ^TestNoErrorRepeatsTheLogin$",
	},
	{
		wrong: "A secret is not found in base64.",
		file:  "internal/image/registry/credentials/secrets.go",
		old:   "base64.RawStdEncoding.DecodeString(digits[from:])",
		new:   "base64.RawStdEncoding.DecodeString(digits[:from])",
		tests: "./internal/image/registry/credentials",
	},
	{
		wrong: "A secret is found in base64 only where it begins with a group of digits.",
		file:  "internal/image/registry/credentials/secrets.go",
		old:   "range min(4, len(digits))",
		new:   "range min(1, len(digits))",
		tests: "./internal/image/registry/credentials",
	},
	{
		wrong: "The password in a header of a hosts.toml is no secret.",
		file:  "internal/image/registry/credentials/secrets.go",
		old:   "strings.EqualFold(scheme, \"Basic\")",
		new:   "strings.EqualFold(scheme, \"\")",
		tests: "./internal/image/registry/credentials",
	},
	{
		wrong: "A secret is not found where quotes split it.",
		file:  "internal/image/registry/credentials/secrets.go",
		old:   "	letters := squeezed(text)\n",
		new:   "	letters := text\n",
		tests: "./internal/image/registry/credentials",
	},
	{
		wrong: "The login goes to a token server at whatever address its name resolves to.",
		file:  "internal/image/registry/hosts/address.go",
		old:   "	direct.DialContext = dialUntil(t.until, dialer)\n",
		new:   "",
		tests: "./internal/image/registry -run ^TestOnlyPublicTokenServersGetTheLoginFromAPublicRegistry$",
	},
	{
		wrong: "A registry on a local network may not have a token server there.",
		file:  "internal/image/registry/login.go",
		old:   "		if !hosts.Public(a) && !g.private.Load() {\n",
		new:   "		if !hosts.Public(a) {\n",
		tests: "./internal/image/registry -run ^TestALocalRegistryMayHaveATokenServerOfItsOwn$",
	},
	{
		wrong: "The addresses that the customers of a provider share count as public.",
		file:  "internal/image/registry/hosts/address.go",
		old:   "	netip.MustParsePrefix(\"100.64.0.0/10\"), // shared by the customers of a provider\n",
		new:   "",
		tests: "./internal/image/registry/hosts",
	},
	{
		wrong: "A registry with HTTPS gets its login sent in the clear, by a redirect.",
		file:  "internal/image/registry/login.go",
		old:   "	if req.URL.Scheme != \"https\" && !g.transport.Plain() {\n",
		new:   "	if false {\n",
		tests: "./internal/image/registry -run ^TestNoLoginLeavesASecureRegistryInTheClear$",
	},
	{
		wrong: "A token server sends the login on to another host.",
		file:  "internal/image/registry/login.go",
		old:   "	case req.Body != nil && req.URL.Host != first.URL.Host:\n",
		new:   "	case false:\n",
		tests: "./internal/image/registry -run ^TestNoRegistrySendsATokenOn$",
	},
}

// ofPulls are faults by which a registry makes pulls wait, or pods wait for pulls.
var ofPulls = []fault{
	{
		wrong: "An answer may take ten times as long as it should.",
		file:  "internal/image/registry/guard.go",
		old:   "	limit := c.config.Answer\n",
		new:   "	limit := 10 * c.config.Answer\n",
		tests: "./internal/image/registry -run ^TestNoAnswerIsAwaitedForEver$",
	},
	{
		wrong: "A layer must arrive in the time of a manifest.",
		file:  "internal/image/registry/guard.go",
		old:   "	g.timer.Stop()\n	stalled :=",
		new:   "	stalled :=",
		tests: "./internal/image/registry -run ^TestALayerMayTakeLongerThanAnAnswer$",
	},
	{
		wrong: "A token server that does not answer is not named.",
		file:  "internal/image/registry/guard.go",
		old:   "		now.elsewhere = req.URL.Host\n",
		new:   "",
		tests: "./internal/image/registry -run ^TestALateTokenServerIsNamed$",
	},
	{
		wrong: "A registry takes the room of all pulls.",
		file:  "internal/node/images/turns.go",
		old:   "t.from(r.ref.Registry) < maxPullsFromRegistry",
		new:   "t.from(r.ref.Registry) < maxPulls",
		tests: "./internal/node/images -run ^TestPullsAreBoundedInNumber$",
	},
	{
		wrong: "The end of a pull that no pod waits for is told.",
		file:  "internal/node/images/pulling.go",
		old:   "	if abandoned {\n",
		new:   "	if abandoned {\n		m.record(r.request.Pod, Event{Image: r.request.Image, Failure: err})\n",
		tests: "./internal/node/images -run ^TestAPullEndsWithTheLastPodThatWaitsForIt$",
	},
}
