package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownNetwork is set in the environment of a process that has a network namespace
// of its own, whose loopback device carries its bytes alone.
const ownNetwork = "TREECAST_BENCH_OWN_NETWORK"

// isolate runs this program again in a network namespace of its own, where that
// is allowed, and returns its exit code and true.
func isolate() (code int, done bool) {
	if os.Getenv(ownNetwork) != "" {
		if err := loopbackUp(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			return 1, true
		}
		return 0, false
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), ownNetwork+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	runtime.LockOSThread() // Pdeathsig is sent when the thread ends, not the process
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, true
	case errors.As(err, &exit):
		return exit.ExitCode(), true
	}
	fmt.Fprintf(os.Stderr, "bench: no network namespace of its own (%v): bytes are counted on the streams alone\n", err)
	return 0, false
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	defer unix.Close(fd)
	req, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("loopback: %w", err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return fmt.Errorf("loopback: flags: %w", err)
	}
	req.SetUint16(req.Uint16() | unix.IFF_UP)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("loopback: up: %w", err)
	}
	return nil
}

// deviceBytes are the bytes that went through the loopback device, with all that
// TCP and IP add; 0 where the device is shared with other programs.
func deviceBytes() uint64 {
	if os.Getenv(ownNetwork) == "" {
		return 0
	}
	table, err := os.ReadFile("/proc/self/net/dev")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(table)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "lo:"); ok {
			n, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				return 0
			}
			return n
		}
	}
	return 0
}
