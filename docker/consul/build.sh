#!/bin/sh
# Builds HashiCorp's Consul, at the version in go.mod, into lockbench's cache, unless it is there: some five minutes
# of processor time, 130 MB. Nothing of lockbench imports it, so that it has a module of its own.
set -eu

cd "$(dirname "$0")"
version=$(sed -n 's|^\tgithub.com/hashicorp/consul v\([^ ]*\).*|\1|p' go.mod)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/lockbench
programs=$cache/consul-$version
[ ! -x "$programs/consul" ] || exit 0
command -v go >/dev/null || { echo "lockbench: Go is missing: install Go 1.26 or newer" >&2; exit 4; }
mkdir -p "$cache"
echo "building Consul $version, which takes some minutes the first time" >&2
draft=$(mktemp -d "$cache/building-XXXXXX")
trap 'rm -rf "$draft"' EXIT
trap 'exit 130' INT TERM
CGO_ENABLED=0 GOWORK=off nice -n 19 go build -mod=readonly -trimpath -ldflags='-s -w' -o "$draft/" github.com/hashicorp/consul
chmod 755 "$draft"
rm -rf "$programs"
mv "$draft" "$programs" # there whole, or not at all
echo "built: $programs" >&2
