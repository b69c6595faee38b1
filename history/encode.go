package history

import (
	"strconv"
	"unicode/utf8"
)

// appendEvent appends ev as one JSON line. It is written by hand because a
// worker records events between two operations of a lock: encoding/json would
// allocate, and a garbage collection there would show in what is measured.
func appendEvent(b []byte, ev *Event) []byte {
	b = append(b, `{"t":`...)
	b = strconv.AppendInt(b, int64(ev.At), 10)
	b = appendString(b, "e", string(ev.Kind))
	b = appendString(b, "op", ev.Op)
	b = appendString(b, "client", ev.Client)
	b = appendString(b, "lock", ev.Lock)
	b = appendString(b, "id", ev.ID)
	b = appendBool(b, "shared", ev.Shared)
	if ev.Kind == KindReturn {
		b = appendString(b, "result", ev.Result.String())
	}
	b = appendUint(b, "token", ev.Token)
	b = appendInt(b, "until", int64(ev.Until))
	b = appendInt(b, "call", int64(ev.Call))
	b = appendInt(b, "requests", int64(ev.Requests))
	b = appendString(b, "sent", ev.Sent)
	b = appendString(b, "worker", ev.Worker)
	b = appendString(b, "name", ev.Name)
	b = appendString(b, "phase", ev.Phase)
	b = appendString(b, "target", ev.Target)
	b = appendString(b, "fault", ev.Fault)
	b = appendInt(b, "count", int64(ev.Count))
	b = appendBool(b, "proven", ev.Proven)
	b = appendBool(b, "error", ev.Error)
	b = appendUint(b, "seq", ev.Seq)
	if c := ev.Copies; c != nil {
		b = append(b, `,"copies":{"plain":`...)
		b = appendCopy(b, &c.Plain)
		b = append(b, `,"checked":`...)
		b = appendCopy(b, &c.Checked)
		if c.Fenced != nil {
			b = append(b, `,"fenced":`...)
			b = appendCopy(b, c.Fenced)
		}
		b = append(b, '}')
	}
	b = appendString(b, "note", ev.Note)
	return append(b, '}', '\n')
}

func appendCopy(b []byte, c *CopyEffect) []byte {
	b = append(b, `{"value":`...)
	b = strconv.AppendInt(b, c.Value, 10)
	if c.Base != 0 {
		b = append(b, `,"base":`...)
		b = strconv.AppendInt(b, c.Base, 10)
	}
	if c.New != 0 {
		b = append(b, `,"new":`...)
		b = strconv.AppendInt(b, c.New, 10)
	}
	b = appendString(b, "result", c.Result.String())
	return append(b, '}')
}

func appendBool(b []byte, key string, v bool) []byte {
	if !v {
		return b
	}
	return append(appendKey(b, key), "true"...)
}

func appendInt(b []byte, key string, v int64) []byte {
	if v == 0 {
		return b
	}
	return strconv.AppendInt(appendKey(b, key), v, 10)
}

func appendUint(b []byte, key string, v uint64) []byte {
	if v == 0 {
		return b
	}
	return strconv.AppendUint(appendKey(b, key), v, 10)
}

func appendKey(b []byte, key string) []byte {
	b = append(b, ',', '"')
	b = append(b, key...)
	return append(b, '"', ':')
}

const hex = "0123456789abcdef"

func appendString(b []byte, key, v string) []byte {
	if v == "" {
		return b
	}
	b = append(appendKey(b, key), '"')
	for i := 0; i < len(v); {
		c := v[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
			i++
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
			i++
		case c < utf8.RuneSelf:
			b = append(b, c)
			i++
		default:
			r, n := utf8.DecodeRuneInString(v[i:])
			if r == utf8.RuneError && n == 1 { // not UTF-8: the byte, as an escape that nothing else uses
				b = append(b, '\\', 'u', 'd', 'c', hex[c>>4], hex[c&15])
			} else {
				b = append(b, v[i:i+n]...)
			}
			i += n
		}
	}
	return append(b, '"')
}
