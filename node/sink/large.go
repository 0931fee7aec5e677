package sink

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// maxChunk is the most bytes of one message of an object store, as clients have
	// it, and chunksAhead how many of them wait for their acknowledgement.
	maxChunk    = 128 << 10
	chunksAhead = 64
	// putMiB is what a MiB may take beside Limits.Put, so that a slow line is not
	// taken for a dead one.
	putMiB = 8 * time.Second
)

// putLarge puts an object's payload into the object store, under the message's id,
// unless it is there. What is written is what clients of the store write: chunks
// on $O.BUCKET.C.NUID, then what there is to know of them on $O.BUCKET.M.NAME. The
// client's own Put is not used, as it starts a goroutine that at times never ends.
func (x *session) putLarge(e *entry) error {
	payload := e.Frame.Payload
	ctx, cancel := context.WithTimeout(x.link, x.s.cfg.Limits.Put+time.Duration(len(payload)>>20)*putMiB)
	defer cancel()
	if err := x.put(ctx, e.id, payload); err != nil {
		return fmt.Errorf("sink: object store %s: %w", x.s.cfg.Target.Bucket, err)
	}
	return nil
}

func (x *session) put(ctx context.Context, name string, payload []byte) error {
	bucket, err := x.bucket(ctx)
	if err != nil {
		return err
	}
	if err := x.purgePartial(ctx); err != nil {
		return err
	}
	sum := sha256.New()
	sum.Write(payload)
	target := x.s.cfg.Target.Bucket
	info := jetstream.ObjectInfo{
		ObjectMeta: jetstream.ObjectMeta{Name: name, Opts: &jetstream.ObjectMetaOptions{
			ChunkSize: uint32(min(maxChunk, x.c.nc.MaxPayload())),
		}},
		Bucket: target, NUID: rand.Text(), Size: uint64(len(payload)), Digest: jetstream.GetObjectDigestValue(sum),
	}
	switch there, err := bucket.GetInfo(ctx, name); {
	case err == nil && there.Size == info.Size && there.Digest == info.Digest:
		return nil
	case err != nil && !errors.Is(err, jetstream.ErrObjectNotFound):
		return err
	}
	chunks := "$O." + target + ".C." + info.NUID
	x.s.partial = chunks
	if info.Chunks, err = x.putChunks(ctx, chunks, payload, int(info.Opts.ChunkSize)); err != nil {
		return err
	}
	about, err := json.Marshal(&info)
	if err != nil {
		return err
	}
	// From here the object may be there although nobody tells, so its chunks stay:
	// to remove them would leave an object that cannot be read.
	x.s.partial = ""
	_, err = x.c.js.PublishMsg(ctx, &nats.Msg{
		Subject: "$O." + target + ".M." + base64.URLEncoding.EncodeToString([]byte(name)),
		Header:  nats.Header{jetstream.MsgRollup: {jetstream.MsgRollupSubject}},
		Data:    about,
	})
	if err != nil {
		return err
	}
	x.s.counted.large.Add(1)
	return nil
}

// putChunks stores the payload in messages of size bytes and returns their number.
func (x *session) putChunks(ctx context.Context, subject string, payload []byte, size int) (n uint32, err error) {
	var ahead []jetstream.PubAckFuture
	for len(payload) > 0 || len(ahead) > 0 {
		if len(payload) > 0 && len(ahead) < chunksAhead {
			chunk := payload[:min(size, len(payload))]
			payload = payload[len(chunk):]
			f, err := x.c.js.PublishMsgAsync(&nats.Msg{Subject: subject, Data: chunk}, jetstream.WithRetryAttempts(0))
			if err != nil {
				return n, err
			}
			ahead = append(ahead, f)
			n++
			continue
		}
		select {
		case <-ahead[0].Ok():
			ahead = ahead[1:]
		case err := <-ahead[0].Err():
			return n, err
		case <-ctx.Done():
			return n, ctx.Err()
		}
	}
	return n, nil
}

// purgePartial removes the chunks of a put that failed before it could have become
// an object. Those of a node that was killed nobody knows of.
func (x *session) purgePartial(ctx context.Context) error {
	if x.s.partial == "" {
		return nil
	}
	stream, err := x.c.js.Stream(ctx, "OBJ_"+x.s.cfg.Target.Bucket)
	if err != nil {
		return err
	}
	if err := stream.Purge(ctx, jetstream.WithPurgeSubject(x.s.partial)); err != nil {
		return err
	}
	x.s.partial = ""
	return nil
}

// bucket finds or makes the object store.
func (x *session) bucket(ctx context.Context) (jetstream.ObjectStore, error) {
	target := &x.s.cfg.Target
	if x.objects != nil {
		return x.objects, nil
	}
	var err error
	x.objects, err = x.c.js.ObjectStore(ctx, target.Bucket)
	if !errors.Is(err, jetstream.ErrBucketNotFound) {
		return x.objects, err
	}
	x.objects, err = x.c.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket:      target.Bucket,
		Description: "BEEF objects too long for a message of stream " + target.Stream,
		Replicas:    max(1, target.Replicas),
		Storage:     jetstream.FileStorage,
	})
	if errors.Is(err, jetstream.ErrBucketExists) { // somebody was faster
		x.objects, err = x.c.js.ObjectStore(ctx, target.Bucket)
	} else if err == nil {
		x.s.cfg.Log.Info("sink made the object store", "bucket", target.Bucket)
	}
	return x.objects, err
}
