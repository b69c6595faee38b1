package wire

// Language is what the clients and the servers of one backend say to each other. The zero
// Language is [Other].
type Language struct {
	// Name is that of the backend, such as "redis".
	Name string
	// Begin reads a new connection.
	Begin func() Protocol
	// Reads are requests that change nothing on any server, whatever they carry: the protocol makes them
	// reads.
	Reads []string
	// KeepAlives are requests that keep a session or a lease alive, and nothing else.
	KeepAlives []string
	// OnKeys are requests that touch nothing but keys, and the connection that they come by: of one that has
	// changed no key nobody else can tell, where nobody listens to a channel.
	OnKeys []string
}

// Other is any language that nobody here can read.
var Other = Language{Name: "other", Begin: func() Protocol { return &Turns{} }}

func (l Language) begin() Protocol {
	if l.Begin == nil {
		return &Turns{}
	}
	return l.Begin()
}
