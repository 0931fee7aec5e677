package wire

import "time"

// Standby tells a parent how long it may keep chunks back, as another parent brings
// them first. It travels from child to parent.
//
//	1 wait_ms  uint32, milliseconds; 0: not at all, and what waits goes at once
//
// (PROTOCOL §5 Two parents, §6; DECISIONS)
type Standby struct {
	WaitMS uint32
}

const standbyWait = 1<<3 | varintType

// Wait is WaitMS as a duration.
func (s Standby) Wait() time.Duration { return time.Duration(s.WaitMS) * time.Millisecond }

// AppendStandby appends a Broadcast message with s to dst.
func AppendStandby(dst []byte, s Standby) []byte {
	return appendMessage(dst, broadcastStandby, s.append)
}

func (s Standby) append(dst []byte) []byte {
	return appendUint(dst, standbyWait, uint64(s.WaitMS))
}

func (s *Standby) parse(f fields) error {
	*s = Standby{}
	for f.next() {
		if f.tag == standbyWait {
			s.WaitMS = uint32(f.num)
		}
	}
	return f.err
}
