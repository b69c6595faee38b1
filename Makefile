# lockbench: which distributed lock can I trust, under what, and what does it cost me?

SHELL       := /bin/bash
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bench: servers build ## the matrix of every lock under every fault, on real servers, and its report
	./lockbench matrix

build: ## the program, ./lockbench
	go build -o lockbench ./cmd/lockbench

servers: ## install the lock services that are missing (Debian, Ubuntu; asks sudo where not root)
	@docker/install.sh redis-server=redis-server

test: servers ## every test, on real servers
	go build ./...
	go test -p 1 -timeout 15m ./...

lint: ## gofmt, go vet, staticcheck
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "gofmt would change:" $$unformatted; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...

docker-images: ## container images of the lock services, built from the distribution's packages
	@docker/install.sh debootstrap=debootstrap
	docker/build.sh

bench-checker: ## what the checkers cost, beside porcupine on the same histories
	go test -run '^$$' -bench . -benchmem ./checker

test-long: ## a million random histories against porcupine
	LOCKBENCH_HISTORIES=1000000 go test -count 1 -timeout 30m -run Random -v ./checker

.PHONY: help bench build servers test lint docker-images bench-checker test-long
