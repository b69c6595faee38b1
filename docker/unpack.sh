#!/bin/sh
# Unpacks the servers of another release of Debian into a directory, where they run beside those of
# this machine, and says how lockbench takes them.
#
#     docker/unpack.sh trixie /opt/trixie redis-server mariadb-server zookeeper
#
# Without packages: those of all kinds that the lab has. Nothing is installed. Needs apt, a Debian with a source that
# has the release, patchelf and unzip: the programs find the libraries that they were unpacked with, as long as the
# directory stays where it is.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

die() {
    echo "docker/unpack.sh: $*" >&2
    exit 4
}

[ $# -ge 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 64; }
release=$1 root=$2
shift 2
[ $# -gt 0 ] || set -- $(cat "$here"/redis/packages "$here"/mariadb/packages "$here"/postgres/packages \
    "$here"/memcached/packages "$here"/zookeeper/packages)
for program in apt-get dpkg-deb patchelf unzip; do
    command -v $program >/dev/null || die "$program is missing: apt-get install $program"
done
[ ! -e "$root/usr" ] || die "$root/usr is there already: name another directory"
mkdir -p "$root" && root=$(cd "$root" && pwd)
. /etc/os-release
uri=$(apt-get indextargets --format '$(REPO_URI) $(CODENAME)' 'Identifier: Packages' | awk -v suite="${VERSION_CODENAME:-}" '$2 == suite { print $1; exit }')
[ -n "$uri" ] || die "this machine's apt sources have no address for ${VERSION_CODENAME:-this system}"

# An apt of its own, for which nothing is installed yet, so that it brings all that the servers need.
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
trap 'exit 130' INT TERM
mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/etc/preferences.d"
: >"$apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $uri $release main" >"$apt/etc/sources.list"
cat >"$apt/conf" <<END
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
Dir::Etc::sourcelist "$apt/etc/sources.list";
Dir::Etc::sourceparts "-";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
END
run() {
    APT_CONFIG=$apt/conf apt-get -q "$@" >"$apt/log" 2>&1 || { tail -n 20 "$apt/log" >&2; die "apt-get $1 failed for $release"; }
}
run update
run install --yes --download-only "$@"
for deb in "$apt"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" | tar -C "$root" -x --keep-directory-symlink --no-same-owner \
        --exclude=./usr/share/doc --exclude=./usr/share/man --exclude=./usr/share/locale
done

# Programs name the loader of this machine, and that its libraries.
loader=$(find "$root"/usr/lib/*-linux-gnu* -maxdepth 1 -name 'ld-linux*.so.*' | head -n 1)
[ -n "$loader" ] || die "what was unpacked in $root has no loader"
libraries=$(dirname "$loader")
for program in "$root"/usr/bin/redis-server "$root"/usr/bin/memcached "$root"/usr/bin/etcd "$root"/usr/sbin/mariadbd \
    "$root"/usr/bin/my_print_defaults "$root"/usr/bin/resolveip "$root"/usr/lib/postgresql/*/bin/*; do
    if [ -f "$program" ] && patchelf --print-interpreter "$program" >/dev/null 2>&1; then
        patchelf --set-interpreter "$loader" --force-rpath --set-rpath "$libraries:$libraries/systemd" "$program"
    fi
done

# flag SOFTWARE PATH, where that is there
flag() {
    [ ! -e "$2" ] || echo "--server-binary $1=${3:-$2}"
}
flag redis "$root/usr/bin/redis-server"
flag memcached "$root/usr/bin/memcached"
flag etcd "$root/usr/bin/etcd"
flag mariadb "$root/usr/sbin/mariadbd"
for postgres in "$root"/usr/lib/postgresql/*/bin/postgres; do flag postgres "$postgres"; done
# The jar names what it needs as it is installed: whatever stands before it comes first.
jar=$root/usr/share/java/zookeeper.jar
[ -e "$jar" ] || exit 0
classes=
for needed in $(unzip -p "$jar" META-INF/MANIFEST.MF | tr -d '\r' | sed -e ':a' -e 'N' -e '$!ba' -e 's/\n //g' | sed -n 's/^Class-Path: //p'); do
    [ ! -e "$root$needed" ] || classes=$classes$root$needed:
done
flag zookeeper "$jar" "$classes$root/usr/share/java/slf4j-simple.jar:$jar"
