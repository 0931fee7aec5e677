// Package jetstream tests the sink against the real NATS server, which its tests
// alone embed, with its streams in files: the sink by itself under all that can go
// wrong with a server, and whole nodes as processes of the built binary.
package jetstream
