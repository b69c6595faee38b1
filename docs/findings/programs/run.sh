#!/bin/bash
# Runs every program on servers of its own, on this machine's loopback, and says which of them
# showed what they are about. Programs whose server is missing are skipped; one whose library is missing shows nothing.
#   run.sh [NAME]...     LOCKBENCH is the program that has the etcd server, ../../../lockbench by default.
cd "$(dirname "$0")" || exit 2
export CGO_ENABLED=0
lockbench=$(realpath "${LOCKBENCH:-../../../lockbench}")
dir=$(mktemp -d /tmp/findings-XXXXXX)
chmod 755 "$dir"
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$dir"' EXIT
redis=36379 memcached=31211 etcd=32379 zookeeper=32181 postgres=35432 pgbouncer=36432 mariadb=33306 consul=38500 kubernetes=38001

start() { # NAME COMMAND...: a server in a directory of its own
	local name=$1
	shift
	mkdir -p "$dir/$name" && if [ $UID = 0 ]; then chown nobody "$dir/$name"; fi
	(cd "$dir/$name" && exec "$@" >"$dir/$name.log" 2>&1) &
}
nobody() { if [ $UID = 0 ]; then setpriv --reuid nobody --regid nogroup --clear-groups "$@"; else "$@"; fi; }
answers() { # PORT: within 20 s
	for _ in {1..200}; do (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return; sleep 0.1; done
	return 1
}

up() { # SERVER: starts it, once
	[ $1 = none ] && { [ -n "$address" ]; return; } # it starts its own
	answered=$1
	[ -e "$dir/$1" ] && { answers ${!1}; return; }
	case $1 in
	redis) start redis redis-server --port $redis --bind 127.0.0.1 --save '' ;;
	memcached) start memcached memcached -u nobody -l 127.0.0.1 -p $memcached ;;
	etcd)
		start etcd "$lockbench" etcd --name d --data-dir d --log-level error \
			--listen-client-urls http://127.0.0.1:$etcd --advertise-client-urls http://127.0.0.1:$etcd \
			--listen-peer-urls http://127.0.0.1:32380 --initial-advertise-peer-urls http://127.0.0.1:32380 --initial-cluster d=http://127.0.0.1:32380
		;;
	zookeeper)
		mkdir "$dir/zookeeper"
		printf '%s\n' tickTime=1000 "dataDir=$dir/zookeeper" clientPort=$zookeeper clientPortAddress=127.0.0.1 admin.enableServer=false >"$dir/zookeeper/zoo.cfg"
		start zookeeper java -Xmx200m -cp '/usr/share/java/*' org.apache.zookeeper.server.quorum.QuorumPeerMain zoo.cfg
		;;
	mariadb)
		mkdir "$dir/mariadb" && if [ $UID = 0 ]; then chown nobody "$dir/mariadb"; fi
		(cd "$dir/mariadb" && nobody mariadb-install-db --no-defaults --auth-root-authentication-method=normal --datadir="$dir/mariadb/data" >/dev/null 2>&1) || return 1
		(cd "$dir/mariadb" && exec $([ $UID = 0 ] && echo setpriv --reuid nobody --regid nogroup --clear-groups) mariadbd --no-defaults \
			--datadir="$dir/mariadb/data" --port=$mariadb --bind-address=127.0.0.1 --socket="$dir/mariadb/socket" >"$dir/mariadb.log" 2>&1) &
		;;
	postgres)
		mkdir "$dir/postgres" && if [ $UID = 0 ]; then chown nobody "$dir/postgres"; fi
		local bin
		bin=$(echo /usr/lib/postgresql/*/bin | awk '{ print $NF }')
		(cd "$dir/postgres" && nobody "$bin/initdb" -D data -U postgres -A trust >/dev/null) || return 1
		(cd "$dir/postgres" && exec setsid $([ $UID = 0 ] && echo setpriv --reuid nobody --regid nogroup --clear-groups) \
			"$bin/postgres" -D data -p $postgres -c listen_addresses=127.0.0.1 -k '' >"$dir/postgres.log" 2>&1) &
		;;
	pgbouncer)
		up postgres || return 1
		mkdir "$dir/pgbouncer"
		printf '%s\n' '[databases]' "* = host=127.0.0.1 port=$postgres user=postgres" '[pgbouncer]' listen_addr=127.0.0.1 listen_port=$pgbouncer \
			auth_type=any pool_mode=transaction unix_socket_dir= >"$dir/pgbouncer/conf"
		start pgbouncer $([ $UID = 0 ] && echo setpriv --reuid nobody --regid nogroup --clear-groups) pgbouncer conf
		;;
	consul) # an install of its own: make consul
		local program
		program=$(ls "${XDG_CACHE_HOME:-$HOME/.cache}"/lockbench/consul-*/consul 2>/dev/null | tail -1)
		[ -n "$program" ] || return 1
		start consul "$program" agent -dev -bind 127.0.0.1 -client 127.0.0.1 -http-port $consul -server-port 38300 -serf-lan-port 38301 \
			-serf-wan-port -1 -dns-port -1 -grpc-port -1 -grpc-tls-port -1 -hcl 'disable_update_check = true'
		answers $consul && for _ in {1..100}; do curl -fs http://127.0.0.1:$consul/v1/status/leader | grep -q : && break; sleep 0.1; done
		;;
	kubernetes) # an install of its own: make kube-apiserver
		local server
		server=$(ls "${XDG_CACHE_HOME:-$HOME/.cache}"/lockbench/kube*-*/kube-apiserver 2>/dev/null | tail -1)
		[ -n "$server" ] || return 1
		start kubernetes "$lockbench" control-plane first 127.0.0.1:$kubernetes "$dir/kubernetes/secrets" "$server" -- --name d --data-dir "$dir/kubernetes/d" --log-level error \
			--listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 \
			--listen-peer-urls http://127.0.0.1:38002 --initial-advertise-peer-urls http://127.0.0.1:38002 --initial-cluster d=http://127.0.0.1:38002
		;;
	esac
	answers ${!1}
}

shown=0 not=0 skipped=0
for path in */main.*; do
	name=${path%/*} server=redis
	[ $# = 0 ] || [[ " $* " = *" $name "* ]] || continue
	case $name in
	etcd-* | python-etcd3-*) server=etcd ;;
	curator-* | kazoo-*) server=zookeeper ;;
	memcached-*) server=memcached ;;
	pgbouncer-*) server=pgbouncer ;;
	tooz-postgresql-* | goose-heartbeat-* | goose-under-* | migrate-*) server=postgres ;;
	symfony-pdo-* | goose-time-zone) server=mariadb ;;
	consul-*) server=consul ;;
	kubernetes-*) server=kubernetes ;;
	esac
	echo "== $name"
	address=127.0.0.1:${!server}
	[ $name = consul-frozen-leader ] && server=none address=$(ls "${XDG_CACHE_HOME:-$HOME/.cache}"/lockbench/consul-*/consul 2>/dev/null | tail -1)
	case $server in pgbouncer | postgres) address=postgres://postgres@$address/postgres ;; esac
	if ! up $server; then
		echo "-- skipped: no $server" && skipped=$((skipped + 1))
		continue
	fi
	if [ -e "$name/main.py" ]; then
		/usr/bin/python3 "$name/main.py" "$address"
	elif [ -e "$name/main.php" ]; then
		php "$name/main.php" "$address"
	elif [ -e "$name/main.java" ]; then
		java -cp '/usr/share/java/*' "$name/main.java" "$address" 2>"$dir/$name.log" # where its loggers say who they are
	else
		go run -tags apiserver "./$name" "$address"
	fi
	case $? in
	0) echo "-- shown" && shown=$((shown + 1)) ;;
	*) echo "-- not shown" && not=$((not + 1)) ;;
	esac
done
echo "$shown shown, $not not shown, $skipped skipped"
[ $not = 0 ]
