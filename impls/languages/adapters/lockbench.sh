# The protocol of lockbench (docs/protocol.md), for locks in bash: source it, define acquire and
# release, which print an answer and perhaps why ("held", "unknown it timed out"), and call serve
# with the fields of docs/protocol.md#describe. $server and $ttl_ms are set for you.
#
# One question is served at a time, so each must be over within five seconds: a cancel is read
# only then. Names are left as JSON writes them, which is as good as any.

text() { local re="\"$1\":\"(([^\"\\\\]|\\\\.)*)\""; [[ $line =~ $re ]] && printf %s "${BASH_REMATCH[1]}"; }
number() { local re="\"$1\":([0-9]+)"; [[ $line =~ $re ]] && printf %s "${BASH_REMATCH[1]}"; }
say() { printf '{"n":%s,"say":"%s"%s}\n' "$n" "$1" "$2" >&3; }
answer() { # say why...
	local why="${*:2}"
	why=${why//[^[:alnum:] .,:_-]/?}
	say "$1" "${why:+,\"why\":\"$why\"}"
}

serve() {
	set -f         # words are words
	exec 3>&1 1>&2 # messages only on 3: whatever else is printed goes to the log
	local line n owner unsure=" "
	while IFS= read -r line; do
		n=$(number n) owner=$(text owner)
		case $(text do) in
		describe) say ok ",\"protocol\":1,$(tr '\n' ' ' <<<"$1")" ;;
		open)
			server=${line#*\"servers\":[\"} server=${server%%\"*} ttl_ms=$(($(number ttl_ns) / 1000000))
			say ok ;;
		acquire)
			if [[ $line == *'"shared":true'* ]]; then say unsupported; continue; fi
			answer $(acquire "$(text lock)" "$owner") ;;
		release)
			set -- "$1" $(release "$(text lock)" "$owner")
			# What it did not find, an earlier release may have given back.
			[[ $2 == lost && $unsure == *" $owner "* ]] && set -- "$1" released
			[[ $2 == unknown ]] && unsure+="$owner "
			answer "${@:2}" ;;
		clock) # of the second there is only this, in hundredths
			read -r up _ </proc/uptime
			say ok ",\"wall_ns\":$(date +%s%N),\"mono_ns\":$((10#${up/./}))0000000" ;;
		close) break ;;
		esac
	done
}
