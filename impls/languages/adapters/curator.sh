#!/bin/sh
# The locks of Curator from the packages that Debian has of it: ./curator.sh [rw|semaphore].
# They are compiled when they are started first.
cd "$(dirname "$0")" || exit
jars=
for j in curator-recipes curator-framework curator-client zookeeper zookeeper-jute guava slf4j-api slf4j-simple; do
	jars=$jars:/usr/share/java/$j.jar
done
if [ ! -e classes ]; then
	new=$(mktemp -d ./classes.XXXXXX)
	javac -nowarn -d "$new" -cp "$jars" Lockbench.java Curator.java >&2 || exit
	mv -T "$new" classes 2>/dev/null || rm -r "$new" # somebody was faster
fi
# A small machine that starts soon.
exec java -Xshare:auto -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xmx64m \
	-Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "classes:.$jars" Curator "${1:-mutex}"
