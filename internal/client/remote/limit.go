package remote

import (
	"cmp"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
)

// limited returns a config whose REST clients share one rate limit. A negative QPS means no limit.
func limited(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	qps, burst := cmp.Or(config.QPS, rest.DefaultQPS), cmp.Or(config.Burst, rest.DefaultBurst)
	config.RateLimiter = nil
	if qps > 0 {
		config.RateLimiter = flowcontrol.NewTokenBucketRateLimiter(qps, burst)
	}
	return config
}
