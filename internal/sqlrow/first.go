// Package sqlrow reads what a database says of itself, whose columns differ from one version to the next.
package sqlrow

import (
	"database/sql"
	"errors"
)

// First is the first row by its columns, nil where there is none; NULL is "". It closes rows.
func First(rows *sql.Rows) (map[string]string, error) {
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || !rows.Next() {
		return nil, errors.Join(err, rows.Err())
	}
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	if err := rows.Scan(into...); err != nil {
		return nil, err
	}
	row := map[string]string{}
	for i, column := range columns {
		row[column] = values[i].String
	}
	return row, nil
}
