<?php
// Symfony's PdoStore gives a lock to another while its holder is told that it has most of a second left.
require "Symfony/Component/Lock/autoload.php";

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\PdoStore;

[$host, $port] = explode(":", $argv[1] ?? "127.0.0.1:3306");
$factory = fn() => new LockFactory(new PdoStore("mysql:host=$host;port=$port;dbname=test", ["db_username" => "root"]));
echo "php ", PHP_VERSION, "\n";

$a = $factory()->createLock("report", 2, false);
$b = $factory()->createLock("report", 2, false);
$a->acquire(); // makes the table
$a->release();
usleep((int) ((1.9 - fmod(microtime(true), 1)) * 1e6)); // late in a second, by this machine's clock
$begin = microtime(true);
echo "a acquires for 2 s: ", json_encode($a->acquire()), "\n";
for ($got = false; !$got && !$a->isExpired(); usleep(20_000)) $got = $b->acquire();
printf("b acquires after %.2f s: %s\n", microtime(true) - $begin, json_encode($got));
$left = $a->getRemainingLifetime();
printf("a is expired, as it is told: %s; it has %.2f s left\n", json_encode($a->isExpired()), $left);
$b->release();
echo "promised: a holder works for as long as its TTL, or until isExpired()\n";
exit($got && $left > 0.5 ? 0 : 1);
