#!/bin/bash
# What stands in many a cron job: redis-cli takes the lock with SET NX EX, and gives it back with a
# DEL that does not ask whose it is by then. It asks as long as it takes, so it has a timeout.
here=$(dirname "$0")
. "$here/lockbench.sh"

redis() { timeout 2 redis-cli -h "${server%:*}" -p "${server##*:}" "$@" 2>&1; }

acquire() { # lock owner
	local got
	got=$(redis SET "$1" "$2" NX EX $(((ttl_ms + 999) / 1000)))
	case $?/$got in 0/OK) echo ok ;; 0/) echo held ;; *) echo unknown "${got:-no answer}" ;; esac
}

release() { # lock owner
	local got
	got=$(redis DEL "$1")
	case $?/$got in 0/1) echo ok ;; 0/0) echo lost ;; *) echo unknown "${got:-no answer}" ;; esac
}

version=$(redis-cli --version)
serve "$(sed -e '1s/{//' -e '$s/}//' "$here/redis_cli.json"), \"versions\":{\"bash\":\"$BASH_VERSION\",\"redis-cli\":\"${version##* }\"}"
