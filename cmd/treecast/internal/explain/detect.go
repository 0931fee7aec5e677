package explain

import (
	"encoding/binary"
	"errors"

	"treecast/wire/beef"
	"treecast/wire/soc"
)

// detect says what data most likely is. Formats with leading bytes of their own
// come first, then those whose numbers must agree with each other, and at last
// what was meant if some byte is wrong.
func detect(data []byte) Kind {
	if len(data) == 0 {
		return Auto
	}
	switch beef.Detect(data) {
	case beef.GrammarRecord:
		return Record
	case beef.GrammarFrame:
		return Frame
	case beef.GrammarUndecided:
		if data[0] == 0xBE {
			return Record
		}
		return Frame
	}
	if _, ok := beef.MarkerOf(data); ok {
		return Object
	}
	for _, guess := range []struct {
		kind Kind
		fits func([]byte) bool
	}{
		{BPS, fitsBPS},
		{Delivery, fitsDelivery},
		{CAC, fitsCAC},
		{SOC, fitsSOC},
		{Frame, seemsFrame},
		{BPS, seemsBPS},
		{Delivery, seemsDelivery},
		{CAC, seemsCAC},
		{SOC, seemsSOC},
	} {
		if guess.fits(data) {
			return guess.kind
		}
	}
	return Auto
}

// seemsFrame: a frame's version bytes behind another magic.
func seemsFrame(b []byte) bool {
	return len(b) > 6 && b[4] == 0x02 && b[5] == 0xBF &&
		(b[6] == beef.FrameVerObject || b[6] == beef.FrameVerFragment)
}

// fitsDelivery: the first record's length leads to its end or to a following
// record's, and it holds what a delivery record must.
func fitsDelivery(b []byte) bool {
	n, ok := deliveryLength(b)
	if !ok || n > len(b)-beef.DeliveryHeaderSize {
		return false
	}
	_, err := beef.ParseDelivery(b[:beef.DeliveryHeaderSize+n])
	return err == nil
}

// seemsDelivery: the length, or what is there of it, is one that can be, or
// what follows it is a payload.
func seemsDelivery(b []byte) bool {
	n, ok := deliveryLength(b)
	if !ok {
		return len(b) > 32 && b[32] == 0
	}
	if n <= beef.DefaultMaxObject+beef.MaxEnvelope {
		return true
	}
	_, err := beef.ParsePayload(b[beef.DeliveryHeaderSize:])
	return err == nil || errors.Is(err, beef.ErrShort)
}

func deliveryLength(b []byte) (n int, ok bool) {
	if len(b) < beef.DeliveryHeaderSize {
		return 0, false
	}
	return int(binary.BigEndian.Uint32(b[32:])), true
}

// fitsCAC: the span is the payload's length, or that of more content than one
// chunk holds over a payload of whole addresses.
func fitsCAC(b []byte) bool {
	return len(b) > soc.SpanSize && len(b) <= soc.SpanSize+soc.MaxPayload &&
		fitsSpan(binary.LittleEndian.Uint64(b), len(b)-soc.SpanSize)
}

// maxContent is content so long that a span above it is taken for no span.
const maxContent = 1 << 48

func fitsSpan(span uint64, payload int) bool {
	if span <= soc.MaxPayload {
		return span == uint64(payload)
	}
	return span < maxContent && payload > 0 && payload%soc.SegmentSize == 0
}

// seemsCAC: the first 8 bytes are a length that content may have.
func seemsCAC(b []byte) bool {
	if len(b) < soc.SpanSize {
		return false
	}
	span := binary.LittleEndian.Uint64(b)
	return span > 0 && span < 1<<32
}

// fitsSOC: the fields behind the id are those of a signed chunk.
func fitsSOC(b []byte) bool {
	if len(b) <= socPayload || len(b) > socPayload+soc.MaxPayload {
		return false
	}
	v := b[socSpan-1]
	return (v == 27 || v == 28) && fitsSpan(binary.LittleEndian.Uint64(b[socSpan:]), len(b)-socPayload)
}

// seemsSOC: id and signature are there, whatever they are worth.
func seemsSOC(b []byte) bool { return len(b) >= socSpan }
