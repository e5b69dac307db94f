# Two commands matter to a newcomer: `make pi` runs a Job, `make test` runs the tests.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
KUBE    := v1.37.2
LDFLAGS := -s -w \
	-X github.com/stint-dev/stint/internal/cli.Version=$(VERSION) \
	-X k8s.io/component-base/version.gitVersion=$(KUBE) \
	-X k8s.io/client-go/pkg/version.gitVersion=$(KUBE)
GO      ?= go
# The packages with tests that want a real kube-apiserver; elsewhere they skip.
CLUSTER_TESTS := ./test/kube/... ./test/scenario/... ./test/differential/... ./internal/client/... ./internal/cluster/... ./internal/cli/results ./internal/cli/schedules ./internal/cli/why ./internal/controller/job
LINT    := $(GO) tool -modfile=tools/go.mod golangci-lint

.PHONY: build
build: ## bin/stint
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/stint ./cmd/stint

.PHONY: pi
pi: build ## run the pi Job of the Kubernetes documentation
	@examples/need-perl.sh
	bin/stint run -f examples/pi.yaml

.PHONY: test
test: ## the ordinary tests, a few minutes
	$(GO) test ./...

.PHONY: test-race
test-race: ## the same under the race detector (needs a C compiler)
	$(GO) test -race -short ./...

.PHONY: test-long
test-long: ## property tests with many histories, a server killed for minutes, and fuzzing
	$(GO) test ./internal/job -rapid.checks=75000 -timeout 20m
	$(GO) test ./internal/controller/job/model -rapid.checks=25000 -timeout 20m
	$(GO) test ./internal/cronjob ./internal/scheduledjob ./internal/controller/cronjob/model ./internal/controller/scheduledjob/model -rapid.checks=10000 -timeout 20m
	$(GO) test ./test/crash -crash.for 3m -timeout 20m
	hack/fuzz.sh 20000x

.PHONY: test-cluster
test-cluster: ## the tests against a real kube-apiserver, which is built the first time
	STINT_CLUSTER=$$(test/cluster/build) $(GO) test -count=1 -p 1 -timeout 20m $(CLUSTER_TESTS)

.PHONY: lint
lint:
	$(LINT) run ./...

.PHONY: generate
generate:
	$(GO) generate ./...

.PHONY: verify-generate
verify-generate: generate
	@git diff --exit-code -- '*zz_generated*' deploy/crds deploy/chart docs/pods.md || { echo "generated code is stale: run make generate and commit"; exit 1; }

.PHONY: bench
bench: build ## throughput and latency, side by side with what else there is
	STINT_CLUSTER=$$(test/cluster/build) $(GO) run ./test/bench -stint bin/stint $(BENCH)

.PHONY: help
help:
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 18
