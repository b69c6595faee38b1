#!/bin/sh
# The locks that everybody knows under the faults that matter most, and what they cost, in
# about four minutes: make bench, and what the container image starts with.
#
#     bench.sh [FLAG…]           flags for matrix and bench, as --lab docker
#     LOCKBENCH=./lockbench      the program
#
# Exit code: the benchmark's if that was not 0, else the matrix's.
set -u
lockbench=${LOCKBENCH:-lockbench}

# Of each kind of trouble one, or no lock could be advised.
locks=none,redis-setnx-expire,redis-setpx-del,redis-setpx-lua,redis-fenced,redlock,zk-sequential,etcd-lease,mysql-forupdate
faults=none,pause-holder,kill-holder,cut-holder,kill@after-setnx,pause@before-write,failover,failover-unreplicated,kill-two,client-clock:drift,server-clock

code=0
"$lockbench" matrix "$@" --algorithms "$locks" --faults "$faults" || code=$?
if [ "$code" -le 2 ]; then # 2: some runs failed, or a promise broke; what they cost is worth to know
    "$lockbench" bench "$@" --short --algorithms "$locks" --out runs/latest || code=$?
fi
exit "$code"
