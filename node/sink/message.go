package sink

import (
	"encoding/hex"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"treecast/node/follow"
)

// SubjectPrefix is what the subject of an object's message begins with; the
// TopicID follows as 64 lower-case hex digits.
const SubjectPrefix = "beef."

// allSubjects are the subjects of all objects.
const allSubjects = SubjectPrefix + "*"

// The headers of a message. Numbers are decimal, the rest is lower-case hex.
const (
	// HeaderID is ContentID ‖ TopicID, 128 digits, by which the stream knows
	// duplicates.
	HeaderID = jetstream.MsgIDHeader
	// HeaderContentID is SHA-256d of the payload, 64 digits.
	HeaderContentID = "Treecast-Content-Id"
	// HeaderTopicID is the topic that the object is delivered under, 64 digits.
	HeaderTopicID = "Treecast-Topic-Id"
	// HeaderOwner is the Ethereum address of the publisher, 40 digits, and
	// HeaderIndex the feed index of the chunk that completed the object. Objects of
	// one publisher in one group are in the order of their indices.
	HeaderOwner = "Treecast-Owner"
	HeaderIndex = "Treecast-Index"
	// HeaderBytes is the length of the payload, wherever that is.
	HeaderBytes = "Treecast-Bytes"
	// HeaderBucket, where it is present, says that the body is empty and the
	// payload is in the object store of this name, as the object called as the
	// message's HeaderID.
	HeaderBucket = "Treecast-Bucket"
)

// messageID is the value of HeaderID.
func messageID(o *follow.Object) string {
	b := make([]byte, 0, 64)
	b = append(b, o.Frame.ContentID[:]...)
	return hex.EncodeToString(append(b, o.Topic[:]...))
}

// message builds the message of an object for a stream. An empty bucket means that
// the payload is the body.
func message(o *follow.Object, id, stream, bucket string) *nats.Msg {
	topic := hex.EncodeToString(o.Topic[:])
	m := &nats.Msg{
		Subject: SubjectPrefix + topic,
		Header: nats.Header{
			HeaderID:                       {id},
			HeaderContentID:                {id[:64]},
			HeaderTopicID:                  {topic},
			HeaderOwner:                    {hex.EncodeToString(o.Owner[:])},
			HeaderIndex:                    {strconv.FormatUint(o.Index, 10)},
			HeaderBytes:                    {strconv.Itoa(len(o.Frame.Payload))},
			jetstream.ExpectedStreamHeader: {stream},
		},
	}
	if bucket != "" {
		m.Header[HeaderBucket] = []string{bucket}
		return m
	}
	m.Data = o.Frame.Payload
	return m
}

// headerVersion begins the header block of a message; each line and the block end
// with two bytes.
const headerVersion = "NATS/1.0\r\n"

// wireSize is what the server holds against its bound: headers and body.
func wireSize(m *nats.Msg) int64 {
	n := len(headerVersion) + 2 + len(m.Data)
	for key, values := range m.Header {
		for _, v := range values {
			n += len(key) + 2 + len(v) + 2
		}
	}
	return int64(n)
}
