# Makes a data directory if there is none, and becomes a PostgreSQL server on it.
set -eu

# The server refuses to run as root. So it runs as somebody else in a user namespace, where it is
# still root's, or yours, to this machine; and its shared memory goes with it, however it ends. The server wants
# a user who has a name.
if [ "$(id -u)" = 0 ]; then
    who=postgres
    id -u $who >/dev/null 2>&1 || who=nobody
    exec unshare --user --map-user="$(id -u $who)" --map-group="$(id -g $who)" --ipc sh "$0"
fi

for dir in /usr/lib/postgresql/*/bin; do PATH=$dir:$PATH; done
postgres=${LOCKBENCH_POSTGRES:-$(command -v postgres)}
PATH=$(dirname "$postgres"):$PATH:/usr/sbin
export PATH LC_ALL=C

data="{dir}/data"
# Small segments, and none kept for later: what a lock table needs fits into megabytes.
if ! [ -e "$data/PG_VERSION" ] && [ -n "${LOCKBENCH_PRIMARY:-}" ]; then
    # A copy of the primary, which may still be on its way up.
    try=0
    until pg_basebackup --host="$LOCKBENCH_PRIMARY" --port={port} --username=lockbench --pgdata="$data.new" \
        --checkpoint=fast --wal-method=stream --write-recovery-conf --no-sync; do
        try=$((try + 1))
        [ $try -lt 300 ] || exit 1
        rm -rf "$data.new"
        sleep 0.1
    done
    mv "$data.new" "$data"
elif ! [ -e "$data/PG_VERSION" ]; then
    rm -rf "$data.new"
    initdb --pgdata="$data.new" --username=lockbench --auth=trust --no-sync --no-locale --encoding=UTF8 --wal-segsize=1 --no-instructions
    echo 'CREATE DATABASE lockbench' | postgres --single -D "$data.new" -c fsync=off postgres
    echo 'host all,replication all all trust' >> "$data.new/pg_hba.conf"
    mv "$data.new" "$data"
fi
chmod 700 "$data"
rm -f "$data/postmaster.pid" # its process may be another's by now; the lab starts a server when the one before is gone

# Every commit is handed to the kernel, but the disk is not waited for: no fault here cuts the power. A
# benchmark whose servers shall wait says so in its own options.
listen={addr} to={port}
[ -z "${LOCKBENCH_VIRTUAL:-}" ] || listen='*'
[ -z "${LOCKBENCH_POOLER:-}" ] || to=$(({port} + 1))
set -- -D "$data" -c listen_addresses="$listen" -c port=$to -c unix_socket_directories= \
    -c shared_buffers=16MB -c max_connections=600 -c dynamic_shared_memory_type=mmap -c fsync=off \
    -c min_wal_size=2MB -c max_wal_size=64MB -c wal_retrieve_retry_interval=100ms -c jit=off \
    ${LOCKBENCH_POSTGRES_OPTIONS:-}
[ -n "${LOCKBENCH_POOLER:-}" ] || exec "$postgres" "$@"

# Behind a pooler the server is its child, and goes with it. The pooler comes second: after a server that it could not
# reach it would rest for 15 s.
"$postgres" "$@" &
until pg_isready --quiet --host=$listen --port=$to; do
    kill -0 $! || exit 1
    sleep 0.05
done
exec pgbouncer "$LOCKBENCH_POOLER"
