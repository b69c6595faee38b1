# lockbench: which distributed lock can I trust, under what, and what does it cost me?

SHELL       := /bin/bash
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Nothing here is C but the clock that is preloaded into other programs, and that needs a
# compiler only: with cgo Go would want the C library's headers, too.
export CGO_ENABLED := 0

.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# make bench LAB=docker runs servers and clients in containers, as root.
LAB ?= local
HAS := $(if $(filter docker,$(LAB)),docker-images,servers)

bench: $(HAS) build ## the locks that everybody knows under the faults that matter most, and what they cost, in about four minutes
	@LOCKBENCH=./lockbench docker/lockbench/bench.sh --lab $(LAB)

bench-all: servers languages build ## every lock under every fault of the matrix, what it costs, and the study of quorums
	./lockbench matrix --jobs 12
	./lockbench bench --out runs/latest
	./lockbench quorum --jobs 4

# The picture of the front page: locks that people know, under six kinds of trouble.
FRONT_LOCKS  := redis-setnx-expire,redis-setpx-lua,redis-watchdog,redis-fenced,redlock,zk-sequential,etcd-lease,mysql-forupdate
FRONT_FAULTS := none,pause-holder,pause@before-write,failover,cut-halves,server-clock

# A matrix that was interrupted is gone on with, and what is there is not made again: remove its directory to begin anew.
matrix = code=0; if [ -e $(1) ]; then ./lockbench matrix --jobs $(2) --resume $(1); else ./lockbench matrix --jobs $(2) $(3) --out $(1); fi || code=$$?; [ $$code -le 2 ] || exit $$code

front: servers build ## docs/results/front: the picture of the front page and what is behind it, in some minutes; keep the machine quiet
	@$(call matrix,runs/front,4,--runs 5 --algorithms '$(FRONT_LOCKS)' --faults '$(FRONT_FAULTS)')
	./lockbench report --publish docs/results/front runs/front && rm -f docs/results/front/*.svg

results: front languages ## docs/results: the matrix, the benchmark and the quorums of this machine, and front, in about an hour, or in parts of it; keep it quiet
	@$(call matrix,runs/results,8)
	[ -e runs/results/bench.json ] || ./lockbench bench --out runs/results
	[ -e runs/results/quorum ] || ./lockbench quorum --jobs 2 --out runs/results/quorum
	./lockbench report --publish docs/results runs/results && rm -f docs/results/*.svg

claims: servers languages build ## docs/claims.md: what four surveys say of locks, held against runs of lockbench, in about half an hour; keep it quiet
	go run ./internal/claims

bugs: servers languages build ## docs/bugs.md: bugs of locks that others have documented, tried here, in about 25 minutes
	go run ./internal/claims -bugs

findings: servers languages build ## docs/findings: its programs, which show the findings without lockbench, in about two minutes
	docs/findings/programs/run.sh

build: ## the program, ./lockbench
	go build $(TAGS) -o lockbench ./cmd/lockbench

servers: ## install the lock services that are missing (Debian, Ubuntu; asks sudo where not root)
	@docker/install.sh redis-server=redis-server mariadbd=mariadb-server java=default-jre-headless \
		/usr/share/zookeeper/bin/zkServer.sh=zookeeper '/usr/lib/postgresql/*/bin/postgres=postgresql' pgbouncer=pgbouncer memcached=memcached cc=gcc

# Found by their files, since a library is no command.
PYTHON := /usr/lib/python3/dist-packages
languages: ## install the languages and libraries of the locks that are not in Go, as far as they are missing (Debian)
	@docker/install.sh /usr/bin/python3=python3-minimal $(PYTHON)/redis=python3-redis $(PYTHON)/kazoo=python3-kazoo $(PYTHON)/etcd3=python3-etcd3 \
		node=nodejs /usr/share/nodejs/redis=node-redis redis-cli=redis-tools \
		javac=default-jdk-headless /usr/share/java/curator-recipes.jar=libcurator-recipes-java \
		$(PYTHON)/portalocker=python3-portalocker $(PYTHON)/tooz=python3-tooz $(PYTHON)/pymemcache=python3-pymemcache \
		$(PYTHON)/pymysql=python3-pymysql $(PYTHON)/psycopg2=python3-psycopg2 \
		php=php-cli /usr/share/php/Symfony/Component/Lock=php-symfony-lock '/usr/lib/php/*/redis.so=php-redis' '/usr/lib/php/*/pdo_mysql.so=php-mysql'

# A module of its own, as Kubernetes is: it has a hundred others for its dependencies.
consul: ## build Consul, the servers of its locks, from its modules, if it is not there; in some five minutes
	@docker/consul/build.sh

# Of the module that has Kubernetes. Where it is, lockbench is built with the library of its locks, which only they need.
TAGS = $(if $(wildcard $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/lockbench/kube*-*/kube-apiserver)$(shell command -v kube-apiserver),-tags apiserver)
kube-apiserver: ## build kube-apiserver, the server of the locks in Kubernetes, from its modules, if it is not there; in some five minutes
	@go run -C docker/kubernetes . build kube-apiserver

browser: ## install the browser that the tests of the pages look through, if none is there (Debian)
	@docker/install.sh $(if $(shell command -v chromium google-chrome chromium-browser),,chromium=chromium) pdftotext=poppler-utils

compose: ## install docker compose, by which tests start servers that are not the lab's (Debian)
	@docker/install.sh $(if $(shell docker compose version 2>/dev/null),,docker-compose=docker-compose)

# Tests of locks wait more than they work, so some packages are tested at once; how many labs
# are up at a time they settle among themselves (internal/testkit, Share). The compiler and the
# linker give way to what is tested meanwhile, which has leases to keep. go vet is in lint.
TEST := -p 8 -vet=off -toolexec='nice -n 19' -ldflags='-s -w' -timeout 60m

# What takes longest begins first.
FIRST := ./reports ./cli ./docker ./impls/redis ./internal/explore ./impls/zk

# Collecting garbage less often saves a tenth of what linking and the labs' programs work.
test test-all test-times: export GOGC ?= 400

# A library of the containers' lists all processes of the machine whenever a program begins that
# has it, and lockbench begins thousands of times: it is shown a directory with none.
test test-all test-times: export HOST_PROC ?= /proc/self

# Without a browser, or docker compose, their tests skip; where CI is set, they fail. The
# examples are a module of their own, and are tested whatever came of the rest.
test: servers languages ## the tests of every day, on real servers and in a browser
	-@$(MAKE) --no-print-directory browser compose
	@code=0; go test $(TEST) $(FIRST) ./... || code=1; (cd examples && go test $(TEST) ./...) || code=1; exit $$code

test-all: servers languages ## all that a night has time for, but for Consul and Kubernetes: every other test in full, then findings, test-long, mutants, noise, mutate-checkers
	-@$(MAKE) --no-print-directory browser compose
	@code=0; go vet -tags apiserver ./backends/kubernetes ./impls/kubernetes || code=1; \
	(cd docs/findings/programs && go vet -tags apiserver ./kubernetes-release) || code=1; \
	LOCKBENCH_TEST_ALL=yes go test $(TEST) -count=1 -timeout 60m ./... || code=1; \
	(cd examples && go test $(TEST) -count=1 ./...) || code=1; \
	for more in findings test-long mutants noise mutate-checkers; do $(MAKE) --no-print-directory $$more || code=1; done; exit $$code

test-times: ## the tests, and a table of what takes the time: seconds and processor time by package, the slowest tests
	@code=0; go run ./internal/testkit/times $(TEST) -count=1 $(FIRST) ./... || code=1; \
	(cd examples && go test $(TEST) -count=1 ./...) || code=1; exit $$code

lint: ## gofmt, go vet, staticcheck; the examples and the programs of the findings build (but for Kubernetes'), the picture of the packages is in step, and no text has a banned form
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:" $$unformatted; exit 1; fi
	go vet ./...
	go vet -tags kubernetes ./cli # where make test-kubernetes has its test
	go vet -tags consul ./backends/consul ./impls/consul ./impls/peers # and make test-consul
	go run $(STATICCHECK) ./...
	cd examples && go build -o /dev/null ./... && go vet ./...
	cd docs/findings/programs && go build -o /dev/null ./... && go vet ./...
	@go run ./internal/packages | cmp -s - docs/packages.svg || { echo "docs/packages.svg shows other imports than the code has: run make packages"; exit 1; }
	go run ./internal/words

packages: ## the picture of the packages and their imports, docs/packages.svg
	go run ./internal/packages >docs/packages.svg

docker-images: ## container images of the lock services, built here, for engines that reach no registry
	@docker/install.sh mmdebstrap=mmdebstrap
	docker/build.sh

# A release is what a tag of the sources makes, the same on every machine that has this Go.
release: ## dist/: lockbench for linux on amd64 and arm64, static, with checksums
	@rm -rf dist && mkdir dist
	for arch in amd64 arm64; do \
		GOOS=linux GOARCH=$$arch go build -buildvcs=true -trimpath -ldflags='-s -w -buildid=' -o dist/lockbench-linux-$$arch ./cmd/lockbench || exit; \
	done
	cd dist && sha256sum lockbench-* | tee SHA256SUMS

image: ## the container image lockbench/lockbench:debian: lockbench, all servers, all languages
	@docker/install.sh mmdebstrap=mmdebstrap
	FORCE=1 docker/build.sh lockbench

# A module of its own, which neither test nor lint builds: it has Kubernetes for a dependency.
test-kubernetes: ## a matrix on a real Kubernetes of three nodes on this machine, as root; it is built first, in some minutes
	@docker/install.sh containerd=containerd ctr=containerd runc=runc /usr/lib/cni/bridge=containernetworking-plugins iptables=iptables
	cd docker/kubernetes && go test -trimpath -count=1 -timeout 60m -v ./...
	go test -tags kubernetes -count=1 -timeout 60m -run '^TestOnKubernetes$$' -v ./cli

test-consul: consul ## every test of Consul's locks and servers, which make test does without
	go test -tags consul -count=1 -timeout 30m ./backends/consul ./impls/consul
	go test -tags consul -count=1 -timeout 30m -run '^TestConsulConformance$$' ./impls/peers

test-kube-apiserver: kube-apiserver ## every test of the locks in Kubernetes and of their servers, which make test does without
	go test -tags apiserver -count=1 -timeout 30m ./backends/kubernetes ./impls/kubernetes

bench-checker: ## what the checkers cost, beside porcupine on the same histories
	go test -run '^$$' -bench . -benchmem ./checker ./history

test-long: ## a million random histories against porcupine, and a million against models of the contract
	LOCKBENCH_HISTORIES=1000000 go test -count 1 -timeout 30m -run Random -v ./checker

mutate-checkers: ## small faults in the reader and the checkers, none of which the tests may miss
	go run ./internal/testkit/mutate

mutants: servers ## broken locks must be convicted and correct ones acquitted: 20 runs each, two counts
	@set -o pipefail; LOCKBENCH_TEST_ALL=yes LOCKBENCH_MUTANT_RUNS=20 go test -count 1 -p 1 -timeout 60m -run '^TestMutants$$' -v ./impls/... ./internal/testkit/mutants | awk ' \
		/not convicted|not acquitted|seed [0-9]+:|^FAIL|^panic/ { print } \
		/: convicted [0-9]+ of/ { sub(/.*: convicted/, "convicted"); c += $$2; m += $$4; a += $$9; n += $$11 } \
		END { printf "convicted %d of %d runs of mutants\nacquitted %d of %d runs of correct algorithms\n", c, m, a, n; exit c != m || a != n }'

noise: servers ## ten benchmarks of one build, each with each, must not differ, and ten of a build with a lock that is 10% slower must
	LOCKBENCH_TEST_ALL=yes LOCKBENCH_NOISE=10 go test -count 1 -timeout 60m -run '^TestNoise$$' -v ./cli

.PHONY: help bench bench-all front results claims bugs findings build servers consul kube-apiserver browser compose test test-all test-times lint packages docker-images release image test-kubernetes test-consul test-kube-apiserver bench-checker test-long mutate-checkers mutants noise
