package main

import (
	"io"
	"log/slog"

	"github.com/libp2p/go-libp2p/gologshim"
)

// quietLibp2p sends libp2p's own logs to log, and only where debugging is asked
// for: what matters of them comes back as errors. Without it they go to stderr
// past all our settings. libp2p takes it once, before its first log.
func quietLibp2p(log *slog.Logger, level string) {
	if level == "debug" {
		gologshim.SetDefaultHandler(log.Handler())
		return
	}
	gologshim.SetDefaultHandler(slog.DiscardHandler)
}

// newLogger makes the logger of one process. It writes to stderr, so that
// stdout stays what the command says.
func newLogger(w io.Writer, level, format string) (*slog.Logger, error) {
	var l slog.Level
	switch level {
	case "debug":
		l = slog.LevelDebug
	case "info":
		l = slog.LevelInfo
	case "warn":
		l = slog.LevelWarn
	case "error":
		l = slog.LevelError
	default:
		return nil, usagef("--log-level: %q is none of debug, info, warn, error", level)
	}
	opts := &slog.HandlerOptions{Level: l}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, usagef("--log-format: %q is none of text, json", format)
}
