package job

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/apiserver/registry/registrytest"
)

type failureRule = batchv1.PodFailurePolicyRule

func failurePolicy(rules ...failureRule) jobEdit {
	return specEdit(func(s *batchv1.JobSpec) { s.PodFailurePolicy = &batchv1.PodFailurePolicy{Rules: rules} })
}

func failOnExit(codes ...int32) failureRule {
	return failureRule{
		Action: batchv1.PodFailurePolicyActionFailJob,
		OnExitCodes: &batchv1.PodFailurePolicyOnExitCodesRequirement{
			Operator: batchv1.PodFailurePolicyOnExitCodesOpIn,
			Values:   codes,
		},
	}
}

func ignoreOnCondition(kinds ...corev1.PodConditionType) failureRule {
	rule := failureRule{Action: batchv1.PodFailurePolicyActionIgnore}
	for _, kind := range kinds {
		rule.OnPodConditions = append(rule.OnPodConditions, batchv1.PodFailurePolicyOnPodConditionsPattern{Type: kind})
	}
	return rule
}

func changed(rule failureRule, change func(*failureRule)) failureRule {
	change(&rule)
	return rule
}

func TestPodFailurePolicyRules(t *testing.T) {
	const rule = "spec.podFailurePolicy.rules[0]"
	action := func(a batchv1.PodFailurePolicyAction) failureRule {
		return changed(failOnExit(1), func(r *failureRule) { r.Action = a })
	}
	perIndex := specEdit(func(s *batchv1.JobSpec) { s.BackoffLimitPerIndex = ptr.To[int32](1) })
	both := changed(failOnExit(1), func(r *failureRule) { r.OnPodConditions = ignoreOnCondition("DisruptionTarget").OnPodConditions })
	runCreateCases(t, map[string]createCase{
		"no rule is accepted":                      {edits(failurePolicy()), nil},
		"20 rules are accepted":                    {edits(failurePolicy(registrytest.Times(20, failOnExit(1))...)), nil},
		"21 rules are refused":                     {edits(failurePolicy(registrytest.Times(21, failOnExit(1))...)), []string{"spec.podFailurePolicy.rules TooMany"}},
		"Count is an action":                       {edits(failurePolicy(action(batchv1.PodFailurePolicyActionCount))), nil},
		"Ignore is an action":                      {edits(failurePolicy(action(batchv1.PodFailurePolicyActionIgnore))), nil},
		"FailIndex needs backoffLimitPerIndex":     {edits(failurePolicy(action(batchv1.PodFailurePolicyActionFailIndex))), []string{rule + ".action Invalid"}},
		"FailIndex goes with backoffLimitPerIndex": {edits(indexed(2, 1), perIndex, failurePolicy(action(batchv1.PodFailurePolicyActionFailIndex))), nil},
		"a rule needs an action":                   {edits(failurePolicy(action(""))), []string{rule + ".action Required"}},
		"an unknown action is refused":             {edits(failurePolicy(action("Retry"))), []string{rule + ".action NotSupported"}},
		"a rule needs a requirement":               {edits(failurePolicy(failureRule{Action: "Count"})), []string{rule + " Invalid"}},
		"a rule has one requirement only":          {edits(failurePolicy(both)), []string{rule + " Invalid"}},
		"the second rule is looked at, too":        {edits(failurePolicy(failOnExit(1), failOnExit())), []string{"spec.podFailurePolicy.rules[1].onExitCodes.values Invalid"}},
	})
}

func TestPodFailurePolicyExitCodes(t *testing.T) {
	const on = "spec.podFailurePolicy.rules[0].onExitCodes"
	with := func(change func(*batchv1.PodFailurePolicyOnExitCodesRequirement), codes ...int32) []jobEdit {
		return edits(failurePolicy(changed(failOnExit(codes...), func(r *failureRule) { change(r.OnExitCodes) })),
			specEdit(func(s *batchv1.JobSpec) {
				s.Template.Spec.InitContainers = []corev1.Container{{Name: "init", Image: "x", Command: []string{"true"}}}
			}))
	}
	same := func(*batchv1.PodFailurePolicyOnExitCodesRequirement) {}
	container := func(name string) func(*batchv1.PodFailurePolicyOnExitCodesRequirement) {
		return func(r *batchv1.PodFailurePolicyOnExitCodesRequirement) { r.ContainerName = &name }
	}
	operator := func(op batchv1.PodFailurePolicyOnExitCodesOperator) func(*batchv1.PodFailurePolicyOnExitCodesRequirement) {
		return func(r *batchv1.PodFailurePolicyOnExitCodesRequirement) { r.Operator = op }
	}
	runCreateCases(t, map[string]createCase{
		"255 codes are accepted":            {with(same, registrytest.UpTo(255)...), nil},
		"256 codes are refused":             {with(same, registrytest.UpTo(256)...), []string{on + ".values TooMany"}},
		"no code is refused":                {with(same), []string{on + ".values Invalid"}},
		"0 is not In any failure":           {with(same, 0, 1), []string{on + ".values[0] Invalid"}},
		"0 may be NotIn":                    {with(operator(batchv1.PodFailurePolicyOnExitCodesOpNotIn), 0, 1), nil},
		"codes are in order":                {with(same, 2, 1), []string{on + ".values Invalid"}},
		"a code stands once":                {with(same, 1, 1), []string{on + ".values[1] Duplicate"}},
		"an operator is needed":             {with(operator(""), 1), []string{on + ".operator Required"}},
		"an unknown operator is refused":    {with(operator("Above"), 1), []string{on + ".operator NotSupported"}},
		"a container may be named":          {with(container("main"), 1), nil},
		"an init container may be named":    {with(container("init"), 1), nil},
		"a container must be there":         {with(container("sidecar"), 1), []string{on + ".containerName Invalid"}},
		"the empty name is no container's":  {with(container(""), 1), []string{on + ".containerName Invalid"}},
		"what is unknown is not taken as 0": {with(operator("Above"), 0), []string{on + ".operator NotSupported"}},
	})
}

func TestPodFailurePolicyConditions(t *testing.T) {
	const on = "spec.podFailurePolicy.rules[0].onPodConditions"
	status := func(s corev1.ConditionStatus) []jobEdit {
		return edits(failurePolicy(changed(ignoreOnCondition("Ready"), func(r *failureRule) { r.OnPodConditions[0].Status = s })))
	}
	runCreateCases(t, map[string]createCase{
		"20 conditions are accepted":       {edits(failurePolicy(ignoreOnCondition(registrytest.Times(20, corev1.PodReady)...))), nil},
		"21 conditions are refused":        {edits(failurePolicy(ignoreOnCondition(registrytest.Times(21, corev1.PodReady)...))), []string{on + " TooMany"}},
		"a type may have a domain":         {edits(failurePolicy(ignoreOnCondition("example.com/Broken"))), nil},
		"a type has no spaces":             {edits(failurePolicy(ignoreOnCondition("is broken"))), []string{on + "[0].type Invalid"}},
		"no status is True":                {status(""), nil},
		"False is a status":                {status(corev1.ConditionFalse), nil},
		"Unknown is a status":              {status(corev1.ConditionUnknown), nil},
		"lower case is no status":          {status("true"), []string{on + "[0].status NotSupported"}},
		"the second condition counts, too": {edits(failurePolicy(ignoreOnCondition("Ready", "x y"))), []string{on + "[1].type Invalid"}},
	})
}

func TestSuccessPolicy(t *testing.T) {
	const rule = "spec.successPolicy.rules[0]"
	policy := func(rules ...batchv1.SuccessPolicyRule) jobEdit {
		return specEdit(func(s *batchv1.JobSpec) { s.SuccessPolicy = &batchv1.SuccessPolicy{Rules: rules} })
	}
	indexes := func(text string) batchv1.SuccessPolicyRule { return batchv1.SuccessPolicyRule{SucceededIndexes: &text} }
	count := func(n int32) batchv1.SuccessPolicyRule { return batchv1.SuccessPolicyRule{SucceededCount: &n} }
	both := func(text string, n int32) batchv1.SuccessPolicyRule {
		return batchv1.SuccessPolicyRule{SucceededIndexes: &text, SucceededCount: &n}
	}
	ten := indexed(10, 1)
	runCreateCases(t, map[string]createCase{
		"only Indexed Jobs have one":             {edits(policy(count(1))), []string{"spec.successPolicy Invalid"}},
		"it has a rule":                          {edits(ten, policy()), []string{"spec.successPolicy.rules Required"}},
		"20 rules are accepted":                  {edits(ten, policy(registrytest.Times(20, count(1))...)), nil},
		"21 rules are refused":                   {edits(ten, policy(registrytest.Times(21, count(1))...)), []string{"spec.successPolicy.rules TooMany"}},
		"a rule asks for something":              {edits(ten, policy(batchv1.SuccessPolicyRule{})), []string{rule + " Required"}},
		"the last index may be asked for":        {edits(ten, policy(indexes("0,3-5,9"))), nil},
		"the index after it may not":             {edits(ten, policy(indexes("10"))), []string{rule + ".succeededIndexes Invalid"}},
		"indexes are in order":                   {edits(ten, policy(indexes("3,1"))), []string{rule + ".succeededIndexes Invalid"}},
		"all completions may be asked for":       {edits(ten, policy(count(10))), nil},
		"no more than these may":                 {edits(ten, policy(count(11))), []string{rule + ".succeededCount Invalid"}},
		"-1 is no count":                         {edits(ten, policy(count(-1))), []string{rule + ".succeededCount Invalid"}},
		"all indexes named may be asked for":     {edits(ten, policy(both("1,3-5", 4))), nil},
		"no more than are named may be":          {edits(ten, policy(both("1,3-5", 5))), []string{rule + ".succeededCount Invalid"}},
		"completions may be missing as well":     {edits(ten, specEdit(func(s *batchv1.JobSpec) { s.Completions = nil }), policy(count(0))), []string{"spec.completions Required"}},
		"64 KiB of indexes are as long as it is": {edits(ten, policy(indexes(strings.Repeat("0", 64*1024)))), nil},
		"one more byte is too long":              {edits(ten, policy(indexes(strings.Repeat("0", 64*1024+1)))), []string{rule + ".succeededIndexes TooLong"}},
	})
}
