// Package bearer is the bearer tokens that HTTP doors ask for: read from a file,
// kept as a hash, compared in constant time. It never shows a token and knows
// nothing of what is behind the door.
package bearer
