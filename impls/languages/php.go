package languages

import (
	"slices"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/impls/internal/compose"
)

const php = "php-cli, php-redis, php-mysql and php-symfony-lock"

// SymfonyRedis is Symfony's Lock on its RedisStore. Before it writes it looks at isExpired(), which asks nobody. phpredis does not
// close a connection whose answer it has given up on, after two seconds here: who stood still for longer, or was kept from
// the server, meets that answer again.
func SymfonyRedis() lb.Impl {
	late := func(outcomes []lb.Outcome, faults ...string) []lb.Expectation {
		return compose.Under(lb.Expectation{Outcomes: append(outcomes, lb.Broken, lb.Stuck), Source: "docs/findings/phpredis-late-answer.md",
			Why: "an answer that comes after its timeout is taken for that of the next command: refusals are grants, and what is saved for 300 s is not known to be"}, faults...)
	}
	return adapter("symfony.php redis", "symfony_redis.json", php, compose.Except(aKey(), slices.Concat(
		late([]lb.Outcome{lb.Check}, "cut-holder"),
		late([]lb.Outcome{lb.Safe, lb.Check}, "lost-grant", "late-grant", "lose-reply", "slow-reply", "cut-rejoin", "pause-client", "kill-session"))...))
}

// mariadb is what the documentation says of the server that PdoStore and tooz rest on.
var mariadb = compose.Database{
	Locking:      `MySQL manual, "Locking Functions"`,
	Disk:         `MySQL manual, "InnoDB and the ACID Model"`,
	Replication:  `MariaDB documentation, "Replication Overview"`,
	Silent:       "8 hours",
	Unreplicated: "GET_LOCK's locks",
}

// SymfonyPDO is Symfony's Lock on its PdoStore, which counts whole seconds: the server ends a lease up to one
// earlier than isExpired() tells its holder.
func SymfonyPDO() lb.Impl {
	early := func(outcomes []lb.Outcome, faults ...string) []lb.Expectation {
		return compose.Under(lb.Expectation{Outcomes: outcomes, Source: "docs/findings/symfony-pdo-early.md",
			Why: "the server ends the lease up to a second before isExpired() says so: whoever holds it for as long shares it with the next"}, faults...)
	}
	return adapter("symfony.php pdo", "symfony_pdo.json", php, compose.Except(mariadb.OnDisk(compose.Lease()), slices.Concat(
		early([]lb.Outcome{lb.Broken, lb.Check}, "pause-holder", "cut-holder", "slow-work"),
		early([]lb.Outcome{lb.Broken}, "pause@before-write"),
		early([]lb.Outcome{lb.Broken, lb.Check, lb.Safe}, "restart-server", "kill-server", "rolling-restart", "late-grant", "slow-reply", "cut-rejoin", "soak"))...))
}
