# Makes a data directory if there is none, and becomes a MariaDB server on it.
set -eu
PATH=$PATH:/usr/sbin

# Small: what a lock table needs fits into a megabyte. Temporary files are named by
# the process id, which is the same in every lab, so they must not meet in /tmp.
set -- --no-defaults --datadir={dir}/data --tmpdir={dir} --skip-name-resolve \
    --innodb-buffer-pool-size=16M --innodb-log-file-size=4M --aria-pagecache-buffer-size=1M
# The server runs as root only if it is told to. mariadb-install-db would take
# "--user" for the owner of what is installed on this machine, too, and change it.
if [ "$(id -u)" = 0 ]; then
    set -- "$@" --loose-user=root
fi

# A server of a user's own is installed with messages of its own, and with a script that makes its system tables.
installed=$(dirname "$(dirname "${LOCKBENCH_MARIADBD:-/}")")
if [ -n "${LOCKBENCH_MARIADBD:-}" ] && [ -d "$installed/share" ]; then
    PATH=$installed/scripts:$installed/bin:$PATH
    set -- "$@" --basedir="$installed"
fi

if ! [ -d {dir}/data/mysql ]; then
    mariadb-install-db "$@" --cross-bootstrap --skip-test-db --auth-root-authentication-method=normal
fi

# Every commit is handed to the kernel, as often as by default, but the disk is
# not waited for: no fault here cuts the power. A benchmark whose servers shall wait
# says so in its own options.
exec "${LOCKBENCH_MARIADBD:-mariadbd}" "$@" --bind-address={addr} --port={port} --socket={dir}/socket --pid-file={dir}/pid \
    --init-file={dir}/init.sql --innodb-flush-log-at-trx-commit=2 --max-connections=1000 \
    ${LOCKBENCH_MARIADB:-}
