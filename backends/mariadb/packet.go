package mariadb

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/lockbench/lockbench/lab"
)

// What a packet begins with.
const (
	saysOK     = 0x00
	saysMore   = 0x01
	saysSwitch = 0xfe
	saysError  = 0xff
)

func readPacket(from io.Reader) (packet []byte, number byte, err error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, 0, err
	}
	packet = make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
	_, err = io.ReadFull(from, packet)
	return packet, head[3], err
}

func writePacket(to io.Writer, number byte, packet []byte) error {
	n := len(packet)
	_, err := to.Write(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), number}, packet...))
	return err
}

// refusal is an error packet: its number, its state, its text.
func refusal(packet []byte) error {
	const text = 9
	if len(packet) < text {
		return lab.ErrNotLetIn
	}
	number, why := binary.LittleEndian.Uint16(packet[1:]), lab.ErrNotLetIn
	if number == noDatabase {
		why = lab.ErrNoDatabase
	}
	return fmt.Errorf("%w: error %d: %s", why, number, packet[text:])
}
