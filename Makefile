# Two commands matter to a newcomer: `make pi` runs a Job, `make test` runs the tests.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
KUBE    := v1.37.2
LDFLAGS := -s -w \
	-X github.com/stint-dev/stint/internal/cli/version.Version=$(VERSION) \
	-X k8s.io/component-base/version.gitVersion=$(KUBE) \
	-X k8s.io/client-go/pkg/version.gitVersion=$(KUBE)
GO      ?= go
LINT    := $(GO) tool -modfile=tools/go.mod golangci-lint

# Each brings hundreds of modules, so they are not in tools/go.mod. The syft that lists what is in a release is in .goreleaser.yaml.
GORELEASER  := $(GO) run github.com/goreleaser/goreleaser/v2@v2.16.0
GOVULNCHECK := $(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Program and tests are compiled alike, so that each package is compiled once.
export CGO_ENABLED := 0
export GOFLAGS += -trimpath

# Every test run: where gotestsum records it is $(1), the packages are $(2), flags of go test $(3), of gotestsum $(4).
# Property tests start from the same seed, and from every failure that is kept in testdata/rapid.
RECORDS := bin/tests
gotest   = @mkdir -p $(RECORDS) && RAPID_SEED=1 $(GO) tool -modfile=tools/go.mod gotestsum --format pkgname-and-test-fails \
	--hide-summary=skipped,output --jsonfile=$(RECORDS)/$(1).json $(4) --packages='$(2)' -- -count=1 -timeout 45m $(3)

# What drives kubectl, scripts or a real cluster may be run once more where it fails; test-report names what then passed.
RERUN   := --rerun-fails=1 --rerun-fails-run-root-test
DRIVING := ^Test(Kubectl|Scripts)
DRIVING_PACKAGES := ./internal/apiserver ./internal/cli

# Tests of a real cluster are named TestCluster...; elsewhere they skip. Stories of faults and scenarios get one try.
CLUSTER := ^TestCluster
CLUSTER_PACKAGES := ./test/kube ./test/differential ./internal/cluster ./internal/cli/results ./internal/cli/schedules ./internal/cli/why
CLUSTER_STORIES  := ./internal/client/remote ./internal/controller/job ./test/scenario

RACE_PACKAGES := ./internal/controller/... ./internal/client/... ./internal/node/... ./internal/image/... ./internal/server ./internal/events ./test/scenario

.PHONY: build
build: ## bin/stint
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/stint ./cmd/stint

.PHONY: pi
pi: build ## run the pi Job of the Kubernetes documentation
	@examples/need-perl.sh
	bin/stint run --runtime process -f examples/pi.yaml

.PHONY: test
test: ## the ordinary tests, a few minutes; needs nothing but Go
	$(call gotest,test,./...,-skip '$(DRIVING)')
	$(call gotest,test-driving,$(DRIVING_PACKAGES),-run '$(DRIVING)',$(RERUN))
	@$(GO) run ./test/report $(RECORDS)/test.json $(RECORDS)/test-driving.json
	@echo 'Not run here: make test-race (needs a C compiler), make test-cluster (a real kube-apiserver), make test-long.'

# Images of the examples, whose tests skip where they have not been made.
IMAGES := $(patsubst %,bin/images/%.tar,redis job-wq-2 rabbitmq job-wq-1 bash busybox)

.PHONY: example-images
example-images: $(IMAGES) ## images for the tests of examples/patterns, from Debian packages; needs apt and the network

bin/images/%.tar: examples/patterns/images.sh hack/debian-image.sh $(wildcard examples/patterns/*/worker/* examples/patterns/*/server/*/*/*)
	examples/patterns/images.sh bin/images $*

.PHONY: test-race
test-race: export CGO_ENABLED := 1
test-race: ## what runs at the same time, under the race detector (needs a C compiler)
	$(call gotest,race,$(RACE_PACKAGES),-race -short)

.PHONY: test-cluster
test-cluster: export STINT_CLUSTER = $(shell test/cluster/build)
test-cluster: ## the tests against a real kube-apiserver, which is built the first time
	@test/cluster/build >/dev/null
	$(call gotest,cluster,$(CLUSTER_PACKAGES),-p 1 -run '$(CLUSTER)',$(RERUN))
	$(call gotest,cluster-stories,$(CLUSTER_STORIES),-p 1 -run '$(CLUSTER)')

.PHONY: test-long
test-long: test-faults ## before a change is called done: new seeds, a server killed many times, planted faults, many pods with networks, fuzzing
	$(call gotest,long-core,./internal/job,-rapid.seed=0 -rapid.checks=75000)
	$(call gotest,long-model,./internal/controller/job/model,-rapid.seed=0 -rapid.checks=25000)
	$(call gotest,long-schedules,./internal/cronjob ./internal/scheduledjob ./internal/controller/cronjob/model ./internal/controller/scheduledjob/model,-rapid.seed=0 -rapid.checks=10000)
	$(call gotest,long-crash,./test/crash,-crash.fresh -crash.kills 60)
	$(call gotest,long-store,./internal/store,-store.seed=0 -store.damages=1000)
	$(call gotest,long-networks,./internal/server,-run ^TestShortPodsWithNetworksLeaveNothing$$ -network.pods=10000)
	hack/fuzz.sh 20000x

.PHONY: test-faults
test-faults: ## faults planted in the controllers are caught by the ordinary tests
	$(GO) run ./test/faults

.PHONY: test-report
test-report: ## what the last runs skipped, and what passed only when run again
	@$(GO) run ./test/report $(wildcard $(RECORDS)/*.json)

.PHONY: lint
lint:
	$(LINT) run ./...
	$(GO) run ./test/comments

.PHONY: generate
generate:
	$(GO) generate ./...

.PHONY: verify-generate
verify-generate: generate
	@git diff --exit-code -- '*zz_generated*' deploy/crds deploy/chart docs/pods.md || { echo "generated code is stale: run make generate and commit"; exit 1; }

.PHONY: vulncheck
vulncheck: ## known vulnerabilities of what is compiled in; needs the network
	@mkdir -p bin
	$(GOVULNCHECK) -format json ./... >bin/vulnerabilities.json
	@$(GO) run ./test/vulncheck docs/security/vulnerabilities.md <bin/vulnerabilities.json

.PHONY: verify-reproducible
verify-reproducible: ## the same commit makes the same bytes: builds twice, once without any cache
	hack/verify-reproducible.sh

.PHONY: release-snapshot
release-snapshot: export LDFLAGS := $(LDFLAGS)
release-snapshot: ## what a release would hold, in dist; publishes nothing
	$(GORELEASER) check
	$(GORELEASER) release --snapshot --clean

.PHONY: release
release: export LDFLAGS := $(LDFLAGS)
release: ## publishes a draft for the tag that is checked out; .github/workflows/release.yaml calls it
	$(GORELEASER) release --clean

.PHONY: bench
bench: build ## throughput and latency, side by side with what else there is
	STINT_CLUSTER=$$(test/cluster/build) $(GO) run ./test/bench -stint bin/stint $(BENCH)

.PHONY: bench-smoke
bench-smoke: ## what no noise changes: allocations, writes, requests, live heap, size of the store; fails above a bound
	$(GO) run ./test/bench -only smoke

.PHONY: help
help:
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed 's/:.*## /\t/' | expand -t 22
