package scenario_test

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	core "github.com/stint-dev/stint/internal/job"
)

// asks sets an annotation by which a Job asks for what the API has no field for.
func asks(annotation, value string) func(*batchv1.Job) {
	return func(j *batchv1.Job) { metav1.SetMetaDataAnnotation(&j.ObjectMeta, annotation, value) }
}

func backoff(seconds string) func(*batchv1.Job) { return asks(core.BackoffSeconds, seconds) }

func maxBackoff(seconds string) func(*batchv1.Job) { return asks(core.MaxBackoffSeconds, seconds) }

// askedBackoffScenarios are about the delays that a Job asks for. A delay that must be over when the scenario looks
// began in the past, one that must not be over lasts for hours.
var askedBackoffScenarios = []scenario{
	{
		name: "backoff-seconds is the delay after the first failure, which doubles with every failure in a row",
		play: func(s *scene) {
			j := s.create(aJob(backoff("3")))
			last := j.active(1)
			for failures := 1; failures <= 2; failures++ {
				last.fail(1)
				next := j.active(1)
				next.madeAfter(last, 3*time.Second<<(failures-1))
				last = next
			}
			last.succeed()
			j.becomes(failed(2), succeeded(1), complete())
		},
	},
	{
		name: "a delay is no longer than asked for, after each failure in a row",
		play: func(s *scene) {
			for n := range int32(3) {
				j := s.create(aJob(named(fmt.Sprint("job-", n+1)), backoff("3600"), maxBackoff("86400")))
				for before := range n {
					j.active(1).failBefore(24*time.Hour, 1)
					j.becomes(failed(before + 1))
				}
				j.active(1).failBefore(time.Hour<<n, 1) // twice as long would not be over for hours
				j.becomes(failed(n+1), active(1))
			}
		},
	},
	{
		name: "backoff-seconds 0 retries at once, whatever the node's clock says",
		play: func(s *scene) {
			j := s.create(aJob(backoff("0")))
			for range 3 {
				j.active(1).failBefore(-time.Hour, 1)
			}
			j.becomes(failed(3), active(1))
			j.active(1).succeed()
			j.becomes(failed(3), succeeded(1), complete())
		},
	},
	{
		name: "max-backoff-seconds bounds the delay",
		play: func(s *scene) {
			j := s.create(aJob(backoff("1800"), maxBackoff("3000")))
			j.active(1).failBefore(3400*time.Second, 1)
			j.becomes(failed(1), active(1))
			j.active(1).failBefore(3100*time.Second, 1)
			j.becomes(failed(2), active(1)) // 3600 s would not be over
			j.active(1).failBefore(1900*time.Second, 1)
			j.becomes(failed(3))
			j.stays(failed(3), active(0))
		},
	},
	{
		name: "backoff-seconds above the controller's maximum raises it",
		play: func(s *scene) {
			j := s.create(aJob(backoff("7200")))
			j.active(1).failBefore(time.Hour, 1)
			j.becomes(failed(1), active(0))
			j.stays(failed(1), active(0), unfinished())
		},
	},
	{
		name: "max-backoff-seconds alone bounds the controller's own delay",
		play: func(s *scene) {
			j := s.create(aJob(maxBackoff("60"), backoffLimit(20)))
			for n := range int32(9) { // the ninth delay would be eight minutes
				j.active(1).failBefore(100*time.Second, 1)
				j.becomes(failed(n+1), active(1))
			}
		},
	},
	{
		name: "a delay that is asked for holds for each index apart",
		play: func(s *scene) {
			j := s.create(aJob(indexed(2, 2), limitPerIndex(3), backoff("7200"), maxBackoff("7200")))
			two := j.active(2)
			two[:1].failBefore(3*time.Hour, 1)
			j.becomes(failed(1), active(2))
			two[1:].failBefore(time.Hour, 1)
			j.becomes(exactly("active=1 failed=1 failedIndexes="))
			j.stays(exactly("active=1 failed=1 failedIndexes="))
			j.update(backoff("1"))
			j.becomes(exactly("active=2 failed=2 failedIndexes="))
		},
	},
	{
		name: "a delay that is asked for can be changed while the Job waits",
		play: func(s *scene) {
			j := s.create(aJob(backoff("7200")))
			j.active(1).failBefore(time.Hour, 1)
			j.becomes(failed(1))
			j.stays(failed(1), active(0))
			j.update(backoff("60"))
			j.active(1).succeed()
			j.becomes(failed(1), succeeded(1), complete())
		},
	},
	{
		name:     "a restart of the controller does not cut short a delay that is asked for",
		restarts: true,
		play: func(s *scene) {
			j := s.create(aJob(backoff("7200"), maxBackoff("28800")))
			j.active(1).failBefore(6*time.Hour, 1)
			j.becomes(failed(1), active(1))
			j.active(1).failBefore(3*time.Hour, 1) // four hours after it, or two if that were forgotten
			j.becomes(failed(2), active(0))
			s.stopController()
			s.startController()
			j.stays(failed(2), active(0))
			j.update(maxBackoff("7200"))
			j.active(1).succeed()
			j.becomes(failed(2), succeeded(1), complete())
		},
	},
}
