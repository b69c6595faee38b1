# Tells the wall clock, and sleeps 100 ms; it can't tell how long that was.
while read -r line; do
	case $line in
	read) echo "$(date +%s%N) 0" ;;
	grandchild) echo "$(setsid bash -c 'date +%s%N') 0" ;;
	*) sleep 0.1 && echo "sleep:0:0" ;;
	esac
done
