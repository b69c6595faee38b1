package mysql

import "github.com/lockbench/lockbench/impls/internal/compose"

// manual is what the documentation says of what the algorithms rest on.
var manual = compose.Database{
	Locking:      `MySQL manual, "InnoDB Locking" and "Locking Functions"`,
	Disk:         `MySQL manual, "InnoDB and the ACID Model"`,
	Replication:  `MariaDB documentation, "Replication Overview"`,
	Silent:       "8 hours",
	Unreplicated: "row locks and GET_LOCK",
}
