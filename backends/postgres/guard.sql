UPDATE guarded SET token = $1, value = COALESCE($2, value) WHERE name = $3 AND token <= $1
