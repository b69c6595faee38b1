# Becomes a class of ZooKeeper: the JVM itself, so that a signal of a fault hits the server.
set -eu

# The distribution's package first, whose one jar names the others that it needs; then what
# the project publishes, whose jars are beside its scripts.
classes=${LOCKBENCH_ZOOKEEPER:-/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar}
if [ -z "${LOCKBENCH_ZOOKEEPER:-}" ] && ! [ -e /usr/share/java/zookeeper.jar ]; then
    script=$(command -v zkServer.sh) || { echo "neither /usr/share/java/zookeeper.jar nor zkServer.sh is here" >&2; exit 1; }
    classes=$(dirname "$script")/../lib/*
fi

# A server of a lab lives for seconds: no time to optimize, little to collect. A JVM that
# looks for a container's limits stumbles over the files of one that it was put into.
exec java -XX:-UseContainerSupport -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -XX:-UsePerfData -cp "${LOCKBENCH_CLASSES:+$LOCKBENCH_CLASSES:}$classes" "$@"
