package lab

import "errors"

// What a guest has to say of a server. Which of them it is decides what the user is told to do.
var (
	// ErrNotLetIn: the name or the password is wrong, or has no right to it.
	ErrNotLetIn = errors.New("it does not let us in")
	// ErrNotLikeThis: it does not let this user into this database from here in this way; the password need not be why.
	ErrNotLikeThis = errors.New("it does not let us in like this")
	// ErrNoDatabase: the database that the user has named is not there.
	ErrNoDatabase = errors.New("it has no such database")
	// ErrNotHere: this server takes no writes, since it copies from another.
	ErrNotHere = errors.New("it takes no writes")
	// ErrNoRoom: its disk, or its memory, is full.
	ErrNoRoom = errors.New("it has no room")
	// ErrTaken: the mark of another run is there.
	ErrTaken = errors.New("another run is using it, or has left its mark")
	// ErrOther: it does not talk as such a server does.
	ErrOther = errors.New("it does not talk as one")
	// ErrClientGone: nobody wants the connection any more. It is no fault of the server's.
	ErrClientGone = errors.New("the client has gone")
)

// TLSError is why TLS with a server failed.
type TLSError struct{ Err error }

func (e *TLSError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *TLSError) Unwrap() error { return e.Err }
