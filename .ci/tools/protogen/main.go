// Protogen writes the Go code of proto files without protoc: it compiles them
// itself and hands the result to protoc-gen-go, the tool that this module pins.
//
//	go -C .ci/tools run ./protogen ../../proto bps.proto
//
// The generated files lie beside their sources.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: protogen DIR FILE.proto...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// run generates the code of names, files in dir that import nothing from
// elsewhere.
func run(dir string, names []string) error {
	req, err := compile(dir, names)
	if err != nil {
		return err
	}
	resp, err := generate(req)
	if err != nil {
		return err
	}
	for _, f := range resp.File {
		path := filepath.Join(dir, f.GetName())
		if err := os.WriteFile(path, []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// compile builds what a plugin gets: all files in order of dependence, comments
// included.
func compile(dir string, names []string) (*pluginpb.CodeGeneratorRequest, error) {
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{dir}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return nil, err
	}
	var descs []*descriptorpb.FileDescriptorProto
	for _, f := range files {
		descs = append(descs, protoutil.ProtoFromFileDescriptor(f))
	}
	return &pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      descs,
	}, nil
}

// generate asks protoc-gen-go.
func generate(req *pluginpb.CodeGeneratorRequest) (*pluginpb.CodeGeneratorResponse, error) {
	in, err := proto.Marshal(req)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "tool", "protoc-gen-go")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("protoc-gen-go: %w", err)
	}
	resp := new(pluginpb.CodeGeneratorResponse)
	if err := proto.Unmarshal(out, resp); err != nil {
		return nil, fmt.Errorf("protoc-gen-go's answer: %w", err)
	}
	if resp.GetError() != "" {
		return nil, fmt.Errorf("protoc-gen-go: %s", resp.GetError())
	}
	return resp, nil
}
