package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// A second signal kills at once: stop gives it back its usual meaning.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], environment{
		stdin:   os.Stdin,
		stdout:  os.Stdout,
		stderr:  os.Stderr,
		environ: os.Environ,
	})
	stop()
	os.Exit(code)
}
