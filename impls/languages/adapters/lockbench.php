<?php
// The protocol of lockbench (docs/protocol.md), for locks in PHP. Copy this file beside yours,
// derive a class from Lock, and end with Lockbench\serve(new YourLock, "description.json").
//
// PHP does one thing at a time, so each question must be over within five seconds: a cancel is read
// only then. Whatever waits needs a timeout.

namespace Lockbench;

class Answer extends \Exception { const SAY = "unknown"; }  // and so is every exception but these:
class Held extends Answer { const SAY = "held"; }           // somebody else has it, and nothing was taken
class Lost extends Answer { const SAY = "lost"; }           // it did not hold the lock any more
class Released extends Answer { const SAY = "released"; }   // whether it held the lock until now nobody knows
class NoEffect extends Answer { const SAY = "no-effect"; }  // it failed, and certainly left nothing behind
class Unsupported extends Answer { const SAY = "unsupported"; } // there is no such mode

/** One client. Times are in nanoseconds of hrtime(true). */
abstract class Lock {
	public array $versions = [];
	public int $ttl_ns;
	public bool $trying = false; // what acquire is asked for
	abstract function open(array $servers, float $ttl); // "host:port" each, and seconds
	abstract function acquire(string $lock, string $owner): ?int; // until when it is good, if that is known
	abstract function release(string $lock, string $owner);
	function valid(string $lock, string $owner): bool { return true; } // asked only where validates is true
	/** The clocks of client and server may differ by 1% and 2 ms. */
	function until(int $call_ns, ?int $ttl_ns = null): int {
		$ttl_ns ??= $this->ttl_ns;
		return $call_ns + $ttl_ns - intdiv($ttl_ns, 100) - 2_000_000;
	}
}

/** Serves a lock. $about is a file beside the program with what describe tells. */
function serve(Lock $lock, string $about): void {
	ini_set("display_errors", "stderr"); // messages only on standard output
	$unsure = [];
	$say = function (int $n, string $say, array $more = []) {
		fwrite(STDOUT, json_encode(["n" => $n, "say" => $say] + $more, JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
	};
	while (($line = fgets(STDIN)) !== false) {
		$q = json_decode($line, true);
		$name = $q["lock"] ?? "";
		$owner = $q["owner"] ?? "";
		switch ($q["do"]) {
			case "close":
				exit(0);
			case "describe":
				$say($q["n"], "ok", ["protocol" => 1, "versions" => ["php" => PHP_VERSION] + $lock->versions] + json_decode(file_get_contents(__DIR__ . "/" . $about), true));
				continue 2;
			case "clock":
				$say($q["n"], "ok", ["wall_ns" => (int) (microtime(true) * 1e9), "mono_ns" => hrtime(true)]);
				continue 2;
			case "cancel":
				continue 2; // the question is answered already
		}
		$message = "ok";
		$more = [];
		try {
			switch ($q["do"]) {
				case "open":
					$lock->ttl_ns = $q["ttl_ns"];
					$lock->open($q["servers"], $q["ttl_ns"] / 1e9);
					break;
				case "acquire":
					if ($q["shared"] ?? false) throw new Unsupported;
					$lock->trying = $q["try"] ?? false;
					if (($until = $lock->acquire($name, $owner)) !== null) $more["until_ns"] = $until;
					break;
				case "valid":
					if (!$lock->valid($name, $owner)) throw new Lost;
					break;
				case "release":
					$lock->release($name, $owner);
			}
		} catch (\Throwable $e) {
			$message = $e instanceof Answer ? $e::SAY : "unknown";
			$more = ["why" => substr(get_class($e) . ": " . $e->getMessage() . (($p = $e->getPrevious()) ? ": " . $p->getMessage() : ""), 0, 500)];
		}
		if ($q["do"] === "release") {
			// What it did not find, an earlier release may have given back.
			if ($message === "lost" && isset($unsure[$owner])) $message = "released";
			if ($message === "unknown") $unsure[$owner] = true;
		}
		$say($q["n"], $message, $more);
	}
}
