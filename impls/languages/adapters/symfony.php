#!/usr/bin/php
<?php
// Symfony's Lock component as its documentation shows it, with the store that the argument names:
// RedisStore over phpredis (redis), or PdoStore over MySQL (pdo).
//
//     $factory = new LockFactory(new RedisStore($redis));
//     $lock = $factory->createLock("name", ttl: 30);
//     $lock->acquire();
//     $lock->isExpired();
//     $lock->release();
//
// lockbench waits. A command has two seconds for its answer; as it comes, phpredis waits for a minute
// (default_socket_timeout) and PDO for a day (mysqlnd.net_read_timeout).

require __DIR__ . "/lockbench.php";
require "Symfony/Component/Lock/autoload.php";

use Symfony\Component\Lock\{Key, Lock, LockFactory};
use Symfony\Component\Lock\Exception\{LockAcquiringException, LockReleasingException};
use Symfony\Component\Lock\Store\{PdoStore, RedisStore};

class Symfony extends Lockbench\Lock {
	private ?LockFactory $factory = null;
	private string $host, $port;
	private float $ttl;
	private array $keys = [], $held = []; // by owner

	function __construct(private string $store) {
		preg_match("/[\d.]+/", exec("dpkg-query -W -f '\${Version}' php-symfony-lock 2>/dev/null"), $found);
		$this->versions = ($found ? ["symfony/lock" => $found[0]] : []) + ($store === "redis" ? ["phpredis" => phpversion("redis")] : ["pdo_mysql" => phpversion("pdo_mysql")]);
	}

	function open(array $servers, float $ttl) {
		[$this->host, $this->port] = explode(":", $servers[0]);
		$this->ttl = $this->store === "redis" ? $ttl : ceil($ttl); // the table keeps whole seconds
		$this->factory = $this->connected();
	}

	private function connected(): LockFactory {
		if ($this->store === "redis") {
			$redis = new Redis;
			$redis->connect($this->host, (int) $this->port, 2, null, 0, 2);
			return new LockFactory(new RedisStore($redis));
		}
		ini_set("mysqlnd.net_read_timeout", "2");
		// What lockbench keeps on a server has its prefix; as it comes, the table is lock_keys.
		$store = new PdoStore("mysql:host=$this->host;port=$this->port;dbname=lockbench", ["db_username" => "lockbench", "db_table" => "lockbench_lock_keys"]);
		try {
			$store->createTable(); // two whose first acquire makes it may both fail
		} catch (PDOException $e) {
			if ($e->getCode() !== "42S01") throw $e; // it is there
		}
		return new LockFactory($store);
	}

	/** A lock by its key. A PdoStore does not connect again: whoever comes next has a store of its own, as the next request of a web server has. */
	private function lock(Key $key): Lock { return ($this->factory ??= $this->connected())->createLockFromKey($key, $this->ttl, false); }

	private function asked(callable $what) {
		try {
			return $what();
		} catch (LockAcquiringException | LockReleasingException | PDOException | RedisException $e) {
			if ($this->store === "pdo") $this->factory = null; // phpredis connects again by itself
			throw $e;
		}
	}

	function acquire(string $lock, string $owner): ?int {
		$key = $this->keys[$owner] = new Key($lock);
		$call = hrtime(true);
		if (!$this->asked(fn() => $this->lock($key)->acquire())) throw new Lockbench\Held;
		$this->held[$owner] = true;
		return $this->until($call, (int) ($this->ttl * 1e9));
	}

	function valid(string $lock, string $owner): bool { return isset($this->held[$owner]) && !$this->keys[$owner]->isExpired(); }

	/** release() does not tell whether there was anything to release. So the library is asked first, as it asks itself when a lock is destroyed. */
	function release(string $lock, string $owner) {
		$key = $this->keys[$owner] ?? throw new Lockbench\Lost("it was not asked for");
		unset($this->held[$owner]);
		$this->asked(function () use ($key) {
			$mine = $this->lock($key);
			if (!$mine->isAcquired()) throw new Lockbench\Lost("isAcquired() says no");
			$mine->release();
			if ($mine->isExpired()) throw new Lockbench\Released("isExpired() says yes");
		});
	}
}

$store = $argv[1] ?? "redis";
Lockbench\serve(new Symfony($store), "symfony_$store.json");
