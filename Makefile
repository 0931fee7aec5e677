# Every command of treecast's developers. `make demo` and `make test` need Go
# and a C compiler, nothing else: modules come through the Go client.

GO     ?= go
TOOL   := $(GO) tool -modfile=.ci/tools/go.mod
BIN    := bin/treecast
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)

.DEFAULT_GOAL := build
.PHONY: build test check demo bench bench-smoke fuzz sim soak proto lint page dist clean generated

build:
	$(GO) build -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/treecast

demo: build
	$(BIN) demo

# Everything that must pass.
test:
	GO='$(GO)' bash .ci/test

# lint, generated files and go.mod unchanged, then test.
check: lint generated test

lint:
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "not gofmt-ed:"; echo "$$out"; exit 1; }
	@out=$$($(TOOL) gofumpt -l $$(git ls-files '*.go' | grep -v '\.pb\.go$$')); test -z "$$out" || { echo "not gofumpt-ed:"; echo "$$out"; exit 1; }
	$(GO) vet ./...
	$(TOOL) staticcheck ./...

# Fails if what is committed is not what the sources give.
generated:
	GO='$(GO)' bash .ci/generated

proto:
	$(GO) -C .ci/tools run ./protogen ../../proto bps.proto recover.proto

# The simulator on 10,000 nodes: build-up, failures, a storm (flags: make sim SIM="--nodes 1000 --churn 0.5").
SIM ?= --nodes 10000 --churn 0.2 --storm 1000
sim: build
	$(BIN) sim $(SIM)

# Each fuzz target for FUZZTIME; a target below FUZZMIN executions fails.
fuzz:
	GO='$(GO)' FUZZTIME=$(or $(FUZZTIME),20s) FUZZMIN=$(or $(FUZZMIN),100000) bash .ci/fuzz

# Beside go-libp2p-pubsub: table on stdout, bench.json and plots in build/bench
# (flags: make bench BENCH="--only closed-4096 --rounds 5"). bench-smoke is the
# small one of it.
BENCH ?=
bench:
	$(GO) build -o bin/bench ./e2e/bench
	bin/bench $(BENCH)

bench-smoke:
	$(GO) build -o bin/bench ./e2e/bench
	bin/bench --smoke --out build/bench-smoke $(BENCH)

soak page dist:
	@echo "make $@: its work is still to come (see CHANGELOG.md, Unreleased)" >&2; exit 2

clean:
	rm -rf bin build dist
