UPDATE guarded SET token = ?, value = COALESCE(?, value) WHERE name = ? AND token <= ?
