#!/usr/bin/env bash
# Installs what this machine lacks, from the distribution's packages. Exit code 4
# where it can't, with what to do instead.
#
#     docker/install.sh PROGRAM=PACKAGE…
#
# A PROGRAM with a path may be any file, and a pattern.
set -euo pipefail

missing=()
for want in "$@"; do
  program=${want%%=*}
  PATH="$PATH:/usr/sbin:/usr/local/sbin" command -v "$program" >/dev/null && continue
  [[ $program == /* ]] && compgen -G "$program" >/dev/null && continue
  missing+=("${want#*=}")
done
[ ${#missing[@]} -eq 0 ] && exit 0

fail() { echo "lockbench: missing: ${missing[*]}. $*" >&2; exit 4; }
command -v apt-get >/dev/null || fail "Install them with this system's package manager and try again."
as_root=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || fail "Run 'apt-get install ${missing[*]}' as root and try again."
  as_root=(sudo)
fi
echo "installing ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
install() {
  "${as_root[@]}" apt-get update &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}
install >"$log" 2>&1 || { tail -5 "$log" >&2; fail "apt-get failed; see above."; }
