#!/bin/sh
# Builds the container images of the lab from the distribution's own packages, or from
# source, for machines that reach no registry.
#
#     docker/build.sh            every kind of the lab that has a folder here
#     docker/build.sh redis      these kinds
#     docker/build.sh lockbench  lockbench itself, with all servers and languages
#     FORCE=1 docker/build.sh    again, even if the image exists
#     SUITE=trixie docker/build.sh redis
#                                the version that another release has
#
# A kind is a folder with a Dockerfile and a file "packages" (one name a line), or a file
# "go" (the package of a program, and its name where that is not the kind's), which goes first; its image is
# lockbench/<kind>:debian.
# A file "program" names a program that stands beside the packages.
# With a SUITE it is that release's packages, in lockbench/<kind>:<suite>. Needs a
# container engine, and for packages a Debian or Ubuntu host with apt sources that work,
# root and mmdebstrap.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

die() {
    echo "docker/build.sh: $*" >&2
    exit 4
}

# need PROGRAM REMEDY
need() {
    command -v "$1" >/dev/null 2>&1 || die "$1 is missing: $2"
}

check_machine() {
    need docker "install Docker's command line (package docker.io or docker-ce-cli)"
    docker version >/dev/null 2>&1 || die "no container engine answers: start Docker, or set DOCKER_HOST to one that this user may use"
}

check_builder() {
    need apt-get "these images are made from Debian or Ubuntu packages; on other systems pull the official images and leave this out"
    need mmdebstrap "apt-get install mmdebstrap"
    [ "$(id -u)" = 0 ] || die "the files of an image belong to root: run it with sudo"
    set -- $(archive "$(suite)")
    [ $# = 2 ] || die "this machine's apt sources have no http, https or file address for $(suite)"
    uri=$1 components=$2
    release=${SUITE:-$(suite)} # the archive of one release has the others, too
    http_proxy=${http_proxy:-$(apt_proxy)}
    export http_proxy
}

# suite is the release that this machine runs, so that its own apt sources fit.
suite() {
    . /etc/os-release
    [ -n "${VERSION_CODENAME:-}" ] || die "/etc/os-release names no VERSION_CODENAME: which release is this?"
    echo "$VERSION_CODENAME"
}

# archive SUITE is where this machine's apt gets that release from, followed by
# the components that it takes, comma by comma. Only a plain http(s) or file
# source will do for mmdebstrap.
archive() {
    apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' 'Identifier: Packages' |
        awk -v suite="$1" '
            $2 != suite || $1 !~ /^(https?|file):/ { next }
            uri == "" { uri = $1 }
            $1 == uri && !seen[$3]++ { components = components "," $3 }
            END { if (uri != "") print uri, substr(components, 2) }'
}

# apt_proxy is the proxy that this machine's apt uses, if any; mmdebstrap's
# own apt looks for it in the environment.
apt_proxy() {
    eval "$(apt-config shell proxy Acquire::http::Proxy)"
    [ -z "${proxy:-}" ] || [ "$proxy" = DIRECT ] || echo "$proxy"
}

# build KIND
build() {
    image=lockbench/$1:${SUITE:-debian}
    if [ -z "${FORCE:-}" ] && docker image inspect "$image" >/dev/null 2>&1; then
        echo "$image exists"
        return
    fi
    rm -rf "$work/root" "$work/context"
    mkdir -p "$work/context"
    if [ -z "${SUITE:-}" ] && [ -f "$here/$1/go" ]; then
        compile "$1" go
    else
        bootstrap "$1"
    fi
    if [ -f "$here/$1/program" ]; then
        compile "$1" program
    fi
    tar -C "$work/root" --one-file-system -cf "$work/context/rootfs.tar" \
        --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' --exclude='./tmp/*' \
        --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' --exclude='./var/log/*.log' .
    find "$here/$1" -maxdepth 1 -type f -exec cp {} "$work/context/" \;
    docker build --quiet --tag "$image" "$work/context" >/dev/null 2>"$work/log" ||
        { cat "$work/log" >&2; die "docker build failed for $1"; }
    echo "$image: built"
}

# compile KIND FILE puts the program that FILE names into the root.
compile() {
    need go "install Go 1.26 or newer"
    read -r package name <"$here/$1/$2"
    echo "$image: building $package"
    (cd "$here" && CGO_ENABLED=0 go build -trimpath -o "$work/root/usr/local/bin/${name:-$1}" "$package") ||
        die "go build failed for $1"
}

# bootstrap KIND makes a root of the distribution's packages.
bootstrap() {
    check_builder
    [ -e "$work/base" ] || {
        echo "bootstrapping $release, which all images begin with"
        debian minbase "$work/base"
    }
    packages=$(paste -sd, "$here/$1/packages")
    echo "$image: adding $packages"
    debian custom "$work/root" --include="$packages" --setup-hook="cp -a $work/base/. \"\$1\""
}

# debian VARIANT ROOT OPTION... makes a root of the release. Syncing every file to disk, documentation and
# translations only cost time and space here. Manuals stay: Java is not installed where their directory is missing.
debian() {
    variant=$1 root=$2
    shift 2
    mmdebstrap --mode=root --variant="$variant" --components="$components" --aptopt='APT::Install-Recommends "false"' \
        --dpkgopt=force-unsafe-io --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/info/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' \
        "$@" "$release" "$root" "$uri" >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log" >&2; die "mmdebstrap failed: what it said last stands above"; }
}

check_machine
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if [ $# = 0 ]; then
    for file in "$here"/*/Dockerfile; do
        kind=$(basename "$(dirname "$file")")
        [ "$kind" = lockbench ] || set -- "$@" "$kind"
    done
fi
for kind; do
    [ -f "$here/$kind/Dockerfile" ] || die "there is no docker/$kind/Dockerfile: the kinds are the folders that have one"
    build "$kind"
done
