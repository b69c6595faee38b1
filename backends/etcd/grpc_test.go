package etcd_test

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/lockbench/lockbench/backends/etcd"
	"github.com/lockbench/lockbench/internal/wire/wiretest"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/proto"
)

type turn = wiretest.Turn

var asks, answers = wiretest.Asks, wiretest.Answers

// preface is what a client of HTTP/2 sends first.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Frames of HTTP/2, and their flags.
const (
	frameData, frameHeaders, frameReset, frameSettings, framePromise, frameContinuation = 0, 1, 3, 4, 5, 9

	flagEnds, flagHeadersEnd, flagPadded, flagPriority = 1, 4, 8, 0x20
)

// frameOf is one of HTTP/2.
func frameOf(kind, flags byte, stream uint32, payload string) string {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload)))
	b = append(b[1:], kind, flags)
	return string(binary.BigEndian.AppendUint32(b, stream)) + payload
}

// block are headers. What they leave in the table of one side would be missing in a test of
// another, so they leave nothing.
func block(pairs ...string) string {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(pairs); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1], Sensitive: true})
	}
	return b.String()
}

func methodOf(name string) string {
	return block(":method", "POST", ":path", "/etcdserverpb.KV/"+name, "content-type", "application/grpc")
}

// callOf begins one.
func callOf(stream uint32, method string) string {
	return frameOf(frameHeaders, flagHeadersEnd, stream, methodOf(method))
}

// grpcOf is a message.
func grpcOf(m proto.Message) string {
	b, err := proto.Marshal(m)
	if err != nil {
		panic(err)
	}
	return "\x00" + sized(string(b))
}

// dataOf is a frame with a message.
func dataOf(stream uint32, m proto.Message) string { return frameOf(frameData, 0, stream, grpcOf(m)) }

// lastOf is the last that a client says in a call.
func lastOf(stream uint32, m proto.Message) string {
	return frameOf(frameData, flagEnds, stream, grpcOf(m))
}

// accepted, done and failed are headers of a server.
func accepted(stream uint32) string {
	return frameOf(frameHeaders, flagHeadersEnd, stream, block(":status", "200"))
}

func done(stream uint32, status string) string {
	return frameOf(frameHeaders, flagHeadersEnd|flagEnds, stream, block("grpc-status", status))
}

func TestEtcd(t *testing.T) {
	const framePing, frameWindow = 6, 8
	begin, begun := asks(preface, frameOf(frameSettings, 0, 0, "\x00\x01\x00\x00\x10\x00")), answers(frameOf(frameSettings, 0, 0, ""))
	put, put5 := grpcOf(&pb.PutRequest{Key: []byte("key"), Value: []byte("value")}), &pb.PutRequest{Key: []byte("k")}
	one := func(method string, ask, answer proto.Message) []turn {
		return []turn{begin, begun, asks(callOf(1, method), lastOf(1, ask)), answers(accepted(1), dataOf(1, answer), done(1, "0"))}
	}
	watches := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("k")}}}
	unwatches := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{}}}
	events := &pb.WatchResponse{Events: []*mvccpb.Event{{}}}
	grant := one("LeaseGrant", &pb.LeaseGrantRequest{TTL: 5}, &pb.LeaseGrantResponse{Header: &pb.ResponseHeader{Revision: 3}, ID: 0x70fa, TTL: 5})
	for name, tc := range map[string]struct {
		turns []turn
		want  string
	}{
		"put":                        {one("Put", put5, &pb.PutResponse{}), "put =put"},
		"get":                        {one("Range", &pb.RangeRequest{}, &pb.RangeResponse{}), "get =get"},
		"delete":                     {one("DeleteRange", &pb.DeleteRangeRequest{}, &pb.DeleteRangeResponse{}), "delete =delete"},
		"revoke":                     {one("LeaseRevoke", &pb.LeaseRevokeRequest{}, &pb.LeaseRevokeResponse{}), "revoke =revoke"},
		"a lock":                     {one("Lock", &pb.LeaseRevokeRequest{}, &pb.LeaseRevokeResponse{}), "lock =lock"},
		"something else":             {one("MemberList", &pb.MemberListRequest{}, &pb.MemberListResponse{}), "memberlist =memberlist"},
		"a session":                  {grant, "grant =grant(70fa)"},
		"a condition that held":      {one("Txn", &pb.TxnRequest{}, &pb.TxnResponse{Header: &pb.ResponseHeader{}, Succeeded: true}), "txn =txn"},
		"one that did not":           {one("Txn", &pb.TxnRequest{}, &pb.TxnResponse{Header: &pb.ResponseHeader{}}), "txn =txn!"},
		"an error":                   {[]turn{begin, begun, asks(callOf(1, "Put"), lastOf(1, put5)), answers(done(1, "14"))}, "put =put!"},
		"a reset by the server":      {[]turn{begin, begun, asks(callOf(1, "Put"), lastOf(1, put5)), answers(frameOf(frameReset, 0, 1, "\x00\x00\x00\x08"))}, "put =put!"},
		"a reset by the client":      {[]turn{begin, begun, asks(callOf(1, "Put"), lastOf(1, put5), frameOf(frameReset, 0, 1, "\x00\x00\x00\x08")), answers(accepted(1), dataOf(1, put5))}, "put"},
		"a server that begins":       {[]turn{begun, begin, asks(callOf(1, "Put"), lastOf(1, put5)), answers(done(1, "14"))}, "put =put!"},
		"pings":                      {[]turn{begin, begun, asks(frameOf(framePing, 0, 0, "12345678")), answers(frameOf(frameWindow, 0, 0, "1234"))}, ""},
		"an empty end":               {[]turn{begin, begun, asks(callOf(1, "Put"), dataOf(1, put5), frameOf(frameData, flagEnds, 1, "")), answers(dataOf(1, put5))}, "put =put"},
		"two at once":                {[]turn{begin, begun, asks(callOf(1, "Put"), callOf(3, "Range"), dataOf(1, put5), dataOf(3, put5)), answers(dataOf(3, put5), dataOf(1, put5))}, "put get =get =put"},
		"a message in many frames":   {[]turn{begin, begun, asks(callOf(1, "Put"), frameOf(frameData, 0, 1, put[:3]), frameOf(frameData, 0, 1, put[3:9]), frameOf(frameData, 0, 1, put[9:])), answers(dataOf(1, put5))}, "put =put"},
		"many messages in a frame":   {[]turn{begin, begun, asks(callOf(1, "LeaseKeepAlive"), frameOf(frameData, 0, 1, grpcOf(put5)+put)), answers(frameOf(frameData, 0, 1, grpcOf(&pb.LeaseKeepAliveResponse{TTL: 4})+grpcOf(&pb.LeaseKeepAliveResponse{})))}, "keep-alive~ keep-alive~ =keep-alive~ =keep-alive~!"},
		"headers in many frames":     {[]turn{begin, begun, asks(frameOf(frameHeaders, 0, 1, methodOf("Put")[:7]), frameOf(frameContinuation, 0, 1, methodOf("Put")[7:9]), frameOf(frameContinuation, flagHeadersEnd, 1, methodOf("Put")[9:]), dataOf(1, put5))}, "put"},
		"padding and priorities":     {[]turn{begin, begun, asks(frameOf(frameHeaders, flagHeadersEnd|flagPadded|flagPriority, 1, "\x02"+"12345"+methodOf("Put")+"??"), frameOf(frameData, flagPadded, 1, "\x03"+grpcOf(put5)+"???"))}, "put"},
		"a lease that is kept":       {[]turn{begin, begun, asks(callOf(1, "LeaseKeepAlive"), dataOf(1, put5)), answers(accepted(1), dataOf(1, &pb.LeaseKeepAliveResponse{ID: 3, TTL: 4})), asks(dataOf(1, put5)), answers(dataOf(1, &pb.LeaseKeepAliveResponse{ID: 3}), done(1, "0")), asks(dataOf(1, put5), frameOf(frameReset, 0, 1, "1234"))}, "keep-alive~ =keep-alive~ keep-alive~ =keep-alive~! keep-alive~"},
		"watches":                    {[]turn{begin, begun, asks(callOf(1, "Watch"), dataOf(1, watches)), answers(accepted(1), dataOf(1, &pb.WatchResponse{Created: true}), dataOf(1, events)), asks(dataOf(1, unwatches)), answers(dataOf(1, events), dataOf(1, &pb.WatchResponse{Canceled: true}))}, "watch =watch unwatch =unwatch"},
		"events while another waits": {[]turn{begin, begun, asks(callOf(1, "Watch"), dataOf(1, watches), dataOf(1, watches), dataOf(1, unwatches)), answers(dataOf(1, &pb.WatchResponse{Created: true}), dataOf(1, events), dataOf(1, &pb.WatchResponse{Canceled: true}), dataOf(1, &pb.WatchResponse{Canceled: true}), dataOf(1, &pb.WatchResponse{Created: true, Canceled: true}))}, "watch watch unwatch =watch =unwatch =watch!"},
		"watches, cut off":           {[]turn{begin, begun, asks(callOf(1, "Watch"), dataOf(1, watches), dataOf(1, unwatches)), answers(done(1, "1"))}, "watch unwatch =watch! =unwatch!"},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, etcd.Language, tc.turns, tc.want) })
	}
}

// TestHeadersRemember: names that a side has said once are numbers later, also where the
// other side allows more of them than usual.
func TestHeadersRemember(t *testing.T) {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	e.SetMaxDynamicTableSizeLimit(1 << 20)
	e.SetMaxDynamicTableSize(1 << 16)
	turns := []turn{asks(preface)}
	for stream := uint32(1); stream < 7; stream += 2 {
		b.Reset()
		_ = e.WriteField(hpack.HeaderField{Name: ":path", Value: "/etcdserverpb.KV/Put"})
		turns = append(turns, asks(frameOf(frameHeaders, flagHeadersEnd, stream, b.String()), dataOf(stream, &pb.PutRequest{})))
	}
	wiretest.Check(t, etcd.Language, turns, "put put put")
}

// sized puts its length before a message.
func sized(m string) string { return string(binary.BigEndian.AppendUint32(nil, uint32(len(m)))) + m }

// TestOtherwise: who does not speak the language from the begin takes turns.
func TestOtherwise(t *testing.T) {
	tls := []turn{asks("\x16\x03\x01\x02\x00"), answers("\x16\x03\x03")}
	for name, turns := range map[string][]turn{
		"HTTP/1":            {asks("PUT /v3 HTTP/1.1\r\n"), answers("HTTP/1.1 200")},
		"encrypted":         tls,
		"an older greeting": {answers("220 here is a server\r\n"), answers("more"), asks("HELO"), answers("250")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Check(t, etcd.Language, turns, "request =request") })
	}
}

// TestNothingIsHeldBackForGood gives what looks like the protocol and is not.
func TestNothingIsHeldBackForGood(t *testing.T) {
	for name, turns := range map[string][]turn{
		"HTTP/2: another preface": {asks("PRI * HTTP/3.0\r\n\r\nSM\r\n\r\n")},
		"HTTP/2: no headers":      {asks(preface, frameOf(frameHeaders, flagHeadersEnd, 1, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"))},
		"HTTP/2: no padding":      {asks(preface, frameOf(frameData, flagPadded, 1, "")), answers("x")},
		"HTTP/2: all padding":     {asks(preface, frameOf(frameData, flagPadded, 1, "\x05abc")), answers("x")},
		"HTTP/2: a promise":       {asks(preface), answers(frameOf(framePromise, 0, 1, ""))},
		"gRPC: compressed":        {asks(preface, callOf(1, "Put"), frameOf(frameData, 0, 1, "\x01\x00\x00\x00\x00")), answers("x")},
		"gRPC: too long":          {asks(preface, callOf(1, "Put"), frameOf(frameData, 0, 1, "\x00\x02\x00\x00\x00")), answers("x")},
	} {
		t.Run(name, func(t *testing.T) { wiretest.Passes(t, etcd.Language, turns...) })
	}
}

func FuzzLanguage(f *testing.F) {
	wiretest.Fuzz(f, etcd.Language, []string{preface + callOf(1, "Put") + frameOf(0, 0, 1, "\x00\x00\x00\x00\x00")},
		[]string{accepted(1) + done(1, "0")})
}
