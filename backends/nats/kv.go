package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
)

// KV are the requests that the key-value store of NATS consists of, as its ADR-8 has them: a bucket is a stream, a key a
// subject, and its revision the number of the last message there. Its library sends them, too, up to three where it is
// asked for one (kv.Create), so that nobody could say which of them was lost.
type KV struct {
	Conn   *nats.Conn
	Bucket string
}

var (
	// ErrRevision: the key is at another revision.
	ErrRevision = errors.New("the key is at another revision")
	// ErrMeanwhile: a write of the key that came before has not come to its end, and may be one's own.
	ErrMeanwhile = errors.New("another write of the key is on its way")
)

// Refusal is what the server answers to a request that it does not carry out.
type Refusal struct {
	Code        int `json:"err_code"`
	Description string
}

func (r *Refusal) Error() string { return "NATS says: " + r.Description }

// Unwrap tells whether that was for the revision's sake.
func (r *Refusal) Unwrap() error {
	const wrongSequence, wrongSequenceMeanwhile = 10071, 10164
	switch r.Code {
	case wrongSequence:
		return ErrRevision
	case wrongSequenceMeanwhile:
		return ErrMeanwhile
	}
	return nil
}

// Any is no condition for a revision.
const Any = ^uint64(0)

// Put writes a value if the key is at that revision, 0 for none, and returns the new one. The key ends by itself after
// so many whole seconds, of which NATS knows no parts; 0 for what the bucket says.
func (k KV) Put(ctx context.Context, key, value string, at uint64, lasts time.Duration) (revision uint64, err error) {
	m := nats.NewMsg(k.subject(key))
	m.Data = []byte(value)
	if lasts > 0 {
		m.Header.Set("Nats-TTL", lasts.String())
	}
	return k.publish(ctx, m, at)
}

// Delete writes a marker that says that the key is gone, if it is at that revision, or at [Any].
func (k KV) Delete(ctx context.Context, key string, at uint64) error {
	m := nats.NewMsg(k.subject(key))
	m.Header.Set(operation, "DEL")
	_, err := k.publish(ctx, m, at)
	return err
}

const operation, marker = "KV-Operation", "Nats-Marker-Reason"

func (k KV) subject(key string) string { return "$KV." + k.Bucket + "." + key }

func (k KV) stream() string { return "KV_" + k.Bucket }

func (k KV) publish(ctx context.Context, m *nats.Msg, at uint64) (revision uint64, err error) {
	if at != Any {
		m.Header.Set("Nats-Expected-Last-Subject-Sequence", strconv.FormatUint(at, 10))
	}
	var said struct {
		Error *Refusal
		Seq   uint64
	}
	if err := k.ask(ctx, m, &said); err != nil {
		return 0, err
	}
	switch {
	case said.Error != nil:
		return 0, said.Error
	case said.Seq == 0:
		return 0, errors.New("NATS confirms, and names no revision")
	}
	return said.Seq, nil
}

func (k KV) ask(ctx context.Context, m *nats.Msg, into any) error {
	answer, err := k.request(ctx, m)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return fmt.Errorf("read what NATS answers: %w", err)
	}
	return nil
}

// request sends one when there is a connection, and once.
func (k KV) request(ctx context.Context, m *nats.Msg) (*nats.Msg, error) {
	if err := k.connected(ctx); err != nil {
		return nil, err
	}
	ctx, end := k.whileConnected(ctx)
	defer end()
	answer, err := k.Conn.RequestMsgWithContext(ctx, m)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errLost) {
		err = cause
	}
	return answer, err
}

var errLost = errors.New("the connection was lost before the answer came")

// whileConnected is ctx until the connection is lost: the library has a request wait for as long as it may, although no
// answer can come any more.
func (k KV) whileConnected(ctx context.Context) (_ context.Context, end func()) {
	lost := k.Conn.StatusChanged(nats.DISCONNECTED, nats.RECONNECTING, nats.CLOSED)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-lost:
			cancel(errLost)
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		cancel(context.Canceled)
		k.Conn.RemoveStatusListener(lost)
	}
}

// connected waits until the connection is there again.
func (k KV) connected(ctx context.Context) error {
	if k.Conn.IsConnected() {
		return nil
	}
	back := k.Conn.StatusChanged(nats.CONNECTED, nats.CLOSED)
	defer k.Conn.RemoveStatusListener(back)
	if k.Conn.IsConnected() {
		return nil
	}
	select {
	case <-back:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errNoConnection, ctx.Err())
	}
}

var errNoConnection = errors.New("no server has let us in again")

// Entry is the last that was written to a key. A marker, which it is when the key is gone, has a revision, too.
type Entry struct {
	Value    string
	Revision uint64
	Gone     bool
}

// Get reads a key from whichever server answers, which may be behind the others: a key that is not there is at revision 0.
func (k KV) Get(ctx context.Context, key string) (Entry, error) {
	m := nats.NewMsg("$JS.API.DIRECT.GET." + k.stream() + "." + k.subject(key))
	answer, err := k.request(ctx, m)
	if err != nil {
		return Entry{}, err
	}
	switch status := answer.Header.Get("Status"); status {
	case "":
	case "404":
		return Entry{Gone: true}, nil
	default:
		return Entry{}, fmt.Errorf("NATS says: %s %s", status, answer.Header.Get("Description"))
	}
	revision, err := strconv.ParseUint(answer.Header.Get("Nats-Sequence"), 10, 64)
	if err != nil {
		return Entry{}, fmt.Errorf("read the revision of a key: %w", err)
	}
	return entry(revision, answer.Header, answer.Data), nil
}

// Look is [KV.Get] by a server that takes itself for the leader: one that is cut off does so for ten seconds.
func (k KV) Look(ctx context.Context, key string) (Entry, error) {
	m := nats.NewMsg("$JS.API.STREAM.MSG.GET." + k.stream())
	m.Data = []byte(`{"last_by_subj":` + strconv.Quote(k.subject(key)) + `}`)
	var said struct {
		Error   *Refusal
		Message struct {
			Seq        uint64
			Hdrs, Data []byte
		}
	}
	if err := k.ask(ctx, m, &said); err != nil {
		return Entry{}, err
	}
	if said.Error != nil {
		const notFound = 10037
		if said.Error.Code == notFound {
			return Entry{Gone: true}, nil
		}
		return Entry{}, said.Error
	}
	var header nats.Header
	if len(said.Message.Hdrs) > 0 {
		var err error
		if header, err = nats.DecodeHeadersMsg(said.Message.Hdrs); err != nil {
			return Entry{}, err
		}
	}
	return entry(said.Message.Seq, header, said.Message.Data), nil
}

func entry(revision uint64, h nats.Header, data []byte) Entry {
	return Entry{Value: string(data), Revision: revision, Gone: h.Get(operation) != "" || h.Get(marker) != ""}
}
