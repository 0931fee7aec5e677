package plane

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// appendRecord appends a submission record (BRC-149):
//
//	0  tag BEEF, 2
//	2  version 01
//	3  number of topics
//	   of each topic: its length, 1, and its name
//	   length of the object, 4, big endian
//	   the object
func appendRecord(dst []byte, topics []string, object []byte) []byte {
	dst = append(dst, 0xBE, 0xEF, 1, byte(len(topics)))
	for _, name := range topics {
		dst = append(append(dst, byte(len(name))), name...)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(object)))
	return append(dst, object...)
}

var errRecord = errors.New("plane: no submission record")

// objectIn is the object in a submission record that fills b.
func objectIn(b []byte) ([]byte, error) {
	if len(b) < 4 || b[0] != 0xBE || b[1] != 0xEF || b[2] != 1 || b[3] < 1 || b[3] > 15 {
		return nil, fmt.Errorf("%w: head %x", errRecord, b[:min(4, len(b))])
	}
	topics := int(b[3])
	b = b[4:]
	for range topics {
		if len(b) < 1 || len(b) < 1+int(b[0]) {
			return nil, fmt.Errorf("%w: cut in a name", errRecord)
		}
		b = b[1+int(b[0]):]
	}
	if len(b) < 4 || uint64(len(b)-4) != uint64(binary.BigEndian.Uint32(b)) {
		return nil, fmt.Errorf("%w: object length", errRecord)
	}
	return b[4:], nil
}

// maxPayload is the most that a consumer takes for a payload.
const maxPayload = 32 << 20

// readDelivery reads a delivery record (BRC-149) into buf and returns its payload:
//
//	 0  TopicID, 32
//	32  length of the payload, 4, big endian
//	36  the payload
//
// The error is io.EOF where the stream ends between two records.
func readDelivery(r io.Reader, buf []byte) (topic [32]byte, payload []byte, err error) {
	var head [36]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return topic, buf, err
	}
	copy(topic[:], head[:])
	size := binary.BigEndian.Uint32(head[32:])
	if size == 0 || size > maxPayload {
		return topic, buf, fmt.Errorf("plane: delivery record of %d bytes", size)
	}
	if uint32(cap(buf)) < size {
		buf = make([]byte, size)
	}
	payload = buf[:size]
	_, err = io.ReadFull(r, payload)
	return topic, payload, err
}
