<?php
// After a read timeout phpredis keeps the connection, and takes the late answer for that of its next command.
// So Symfony's lock is acquired by a client that was refused.
require "Symfony/Component/Lock/autoload.php";

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

[$host, $port] = explode(":", $argv[1] ?? "127.0.0.1:6379");
echo "php ", PHP_VERSION, ", phpredis ", phpversion("redis"), "\n";
$connected = function (float $timeout) use ($host, $port): Redis {
	$redis = new Redis;
	$redis->connect($host, (int) $port, 1, null, 0, $timeout);
	return $redis;
};
$a = (new LockFactory(new RedisStore($connected(5))))->createLock("report", 60, false);
echo "a acquires: ", json_encode($a->acquire()), "\n";

$redis = $connected(0.2);
$factory = new LockFactory(new RedisStore($redis));
$factory->createLock("other", 60)->acquire(); // the store has asked what it asks once
$wait = "local t = redis.call('TIME') local e = t[1] * 1000000 + t[2] + 500000
	repeat t = redis.call('TIME') until t[1] * 1000000 + t[2] > e return 1";
try {
	$redis->eval($wait); // a server that is busy for half a second
} catch (RedisException $e) {
	echo "b's command before: ", $e->getMessage(), "\n";
}
usleep(600_000);
try {
	$b = $factory->createLock("report", null, false);
	$got = $b->acquire();
	echo "b acquires while a holds it: ", json_encode($got), "\n";
} catch (Exception $e) {
	$got = false;
	echo "b acquires while a holds it: ", get_class($e), ": ", $e->getMessage(), "\n";
}
echo "a is still the holder: ", json_encode($a->isAcquired()), "\n";
$shown = $got && $a->isAcquired();
$a->release();
echo "promised: acquire() is true for one at a time\n";
exit($shown ? 0 : 1);
