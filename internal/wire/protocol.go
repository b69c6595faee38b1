package wire

// Side is who speaks.
type Side int

// The two sides of a connection.
const (
	Client Side = iota
	Server
)

// Protocol is how to read one connection.
type Protocol interface {
	// Length is that of the message at the beginning of what is not read yet, or at least
	// so long: 0 where nothing can be told. It is [Nonsense] where that is no message. Asked
	// again before the message is read, it has the same bytes and more.
	Length(who Side, unread []byte) int
	// Read gets a message, and returns what there is to say about it: nothing, as a rule.
	// next reads the rest of the connection.
	Read(who Side, message []byte) (notes []Message, next Protocol)
}

// Nonsense is the length of what is no message.
const Nonsense = -1

// Longest is how many bytes a message may have.
const Longest = 16 << 20

// Raw is the rest of a connection that can't be read any more.
type Raw struct{}

// Length implements [Protocol]: all that is there may pass.
func (Raw) Length(_ Side, unread []byte) int { return min(len(unread), Longest) }

// Read implements [Protocol].
func (r Raw) Read(Side, []byte) ([]Message, Protocol) { return nil, r }

// Turns is any protocol that takes turns: what follows an answer is a new request. The zero
// value is ready.
type Turns struct {
	Raw
	asked bool
}

// Read implements [Protocol].
func (t *Turns) Read(who Side, _ []byte) ([]Message, Protocol) {
	if t.asked == (who == Client) {
		return nil, t
	}
	t.asked = !t.asked
	return []Message{{Request: "request"}}, t
}
