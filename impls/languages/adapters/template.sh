#!/bin/bash
# A lock in shell to start from, as it stands in many a cron job: lockbench run --exec ./template.sh
. "$(dirname "$0")/lockbench.sh"

redis() { timeout 2 redis-cli -h "${server%:*}" -p "${server##*:}" "$@" 2>&1; }

acquire() { # lock owner
	local got
	got=$(redis SET "$1" "$2" NX EX $(((ttl_ms + 999) / 1000)))
	case $?/$got in 0/OK) echo ok ;; 0/) echo held ;; *) echo unknown "${got:-no answer}" ;; esac
}

release() { # lock owner: whose key it is by now nobody looks
	local got
	got=$(redis DEL "$1")
	case $?/$got in 0/1) echo ok ;; 0/0) echo lost ;; *) echo unknown "${got:-no answer}" ;; esac
}

serve '"name":"my-lock","doc":"redis-cli SET NX EX, released by a plain DEL","topologies":["redis"],
	"requests":["set","del"],"takes":"set","round_trips":{"acquire":1,"release":1}'
