package sink

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// maxChunk is the most bytes of one message of an object store, as clients have it.
const maxChunk = 128 << 10

// putMiB is what a MiB may take beside Limits.Put, so that a slow line is not taken
// for a dead one.
const putMiB = 8 * time.Second

// putLarge puts an object's payload into the object store, under the message's id,
// unless it is there.
func (x *session) putLarge(e *entry) error {
	payload := e.Frame.Payload
	ctx, cancel := context.WithTimeout(x.link, x.s.cfg.Limits.Put+time.Duration(len(payload)>>20)*putMiB)
	defer cancel()
	fail := func(err error) error {
		return fmt.Errorf("sink: object store %s: %w", x.s.cfg.Target.Bucket, err)
	}
	bucket, err := x.bucket(ctx)
	if err != nil {
		return fail(err)
	}
	sum := sha256.New()
	sum.Write(payload)
	switch there, err := bucket.GetInfo(ctx, e.id); {
	case err == nil && there.Size == uint64(len(payload)) && there.Digest == digest(sum):
		return nil
	case err != nil && !errors.Is(err, jetstream.ErrObjectNotFound):
		return fail(err)
	}
	_, err = bucket.Put(ctx, jetstream.ObjectMeta{
		Name: e.id,
		Opts: &jetstream.ObjectMetaOptions{ChunkSize: uint32(min(maxChunk, x.c.nc.MaxPayload()))},
	}, bytes.NewReader(payload))
	if err != nil {
		return fail(err)
	}
	x.s.counted.large.Add(1)
	return nil
}

func digest(h hash.Hash) string { return jetstream.GetObjectDigestValue(h) }

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
