package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"treecast/cmd/treecast/internal/explain"
	"treecast/wire/beef"
)

// maxDecode bounds what decode reads, above the longest unit that is valid.
const maxDecode = 64 << 20

// decodeFlags are the flags of `treecast decode`.
type decodeFlags struct {
	hex     string
	as      string
	address string
	bits    int
}

func newDecodeCommand(a *app) *cobra.Command {
	var f decodeFlags
	cmd := &cobra.Command{
		Use:   "decode [FILE]",
		Short: "explain bytes, and name the offset of the first fault",
		Long: `Explain bytes from --hex, a file, or stdin: frames of the tree's protocol, chunks,
object frames, fragments, submission and delivery records, BEEF objects. Every
field is shown with its offset. Invalid bytes end with the offset of the first
field at fault and exit code 1.

Most formats announce themselves; --as tells which one is meant. A chunk alone
does not say who should have signed it: --address does.`,
		Example: `  treecast decode --hex beef010107746d5f73686970000000080100beefaabbccdd
  treecast decode --json capture.bin
  nc -l 9000 | treecast decode --as delivery`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			opt, err := f.options()
			if err != nil {
				return err
			}
			data, err := f.input(a.stdin, cmd.Flags().Changed("hex"), args)
			if err != nil {
				return err
			}
			report := explain.Explain(data, opt)
			if a.json {
				err = json.NewEncoder(a.stdout).Encode(report)
			} else {
				err = report.WriteText(a.stdout)
			}
			if err != nil {
				return err
			}
			if report.Fault != nil {
				return fmt.Errorf("decode: %s", report.Fault)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&f.hex, "hex", "", "bytes in hexadecimal; white space and a leading 0x are ignored")
	cmd.Flags().StringVar(&f.as, "as", string(explain.Auto), "format: "+kindNames())
	cmd.Flags().StringVar(&f.address, "address", "", "the 32-byte address that a chunk should have, in hexadecimal")
	cmd.Flags().IntVar(&f.bits, "shard-bits", 0, "leading bits of a TopicID that choose its group, 0 to 15")
	return cmd
}

func kindNames() string {
	names := make([]string, len(explain.Kinds))
	for i, k := range explain.Kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

func (f *decodeFlags) options() (opt explain.Options, err error) {
	for _, k := range explain.Kinds {
		if string(k) == f.as {
			opt.Kind = k
		}
	}
	if opt.Kind == "" {
		return opt, usagef("decode: --as %q is none of %s", f.as, kindNames())
	}
	if opt.ShardBits = f.bits; f.bits < 0 || f.bits > beef.MaxShardBits {
		return opt, usagef("decode: --shard-bits %d: want 0 to %d", f.bits, beef.MaxShardBits)
	}
	if f.address == "" {
		return opt, nil
	}
	address, err := parseHex(f.address)
	if err != nil || len(address) != 32 {
		return opt, usagef("decode: --address %q: want 32 bytes in hexadecimal", f.address)
	}
	opt.Address = (*[32]byte)(address)
	return opt, nil
}

// input reads what is to be explained: --hex, the file, or stdin.
func (f *decodeFlags) input(stdin io.Reader, hexGiven bool, args []string) ([]byte, error) {
	if hexGiven {
		if len(args) > 0 {
			return nil, usagef("decode: both --hex and a file")
		}
		data, err := parseHex(f.hex)
		if err != nil {
			return nil, usagef("decode: --hex: %v", err)
		}
		return data, nil
	}
	if len(args) == 1 && args[0] != "-" {
		file, err := os.Open(args[0])
		if err != nil {
			return nil, fmt.Errorf("decode: %w", err)
		}
		defer file.Close()
		stdin = file
	}
	data, err := io.ReadAll(io.LimitReader(stdin, maxDecode+1))
	if err != nil {
		return nil, fmt.Errorf("decode: read: %w", err)
	}
	if len(data) > maxDecode {
		return nil, fmt.Errorf("decode: input over %d bytes", maxDecode)
	}
	return data, nil
}

// parseHex reads hexadecimal as people paste it.
func parseHex(s string) ([]byte, error) {
	s = strings.Join(strings.Fields(s), "")
	s = strings.TrimPrefix(strings.TrimPrefix(s, "0x"), "0X")
	return hex.DecodeString(s)
}
