package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/env/v2"
	"github.com/knadh/koanf/providers/file"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// envPrefix precedes a flag's name, in capitals and with _ for -, in the
// environment.
const envPrefix = "TREECAST_"

// configFlag is the flag that names a YAML file, where a command has one.
const configFlag = "config"

// noDelim keeps koanf from splitting keys: settings are flat, and a multiaddr
// or a topic name may hold any usual delimiter.
const noDelim = "\x00"

// applySettings gives every flag that the command line leaves alone its value
// from the environment, else from the YAML file. A flag's own parser judges the
// value, so a wrong one is refused wherever it comes from. All faults are
// reported together.
func applySettings(cmd *cobra.Command, environ func() []string) error {
	flags := cmd.Flags()
	var faults []string
	fromEnv := koanf.New(noDelim)
	err := fromEnv.Load(env.Provider(noDelim, env.Opt{
		Prefix:      envPrefix,
		EnvironFunc: environ,
		TransformFunc: func(key, value string) (string, any) {
			name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(key, envPrefix), "_", "-"))
			return name, value
		},
	}), nil)
	if err != nil {
		return fmt.Errorf("environment: %w", err)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || !fromEnv.Exists(f.Name) {
			return
		}
		variable := envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if err := setFlag(flags, f, envValue(f, fromEnv.String(f.Name))); err != nil {
			faults = append(faults, fmt.Sprintf("environment %s: %v", variable, err))
		}
	})
	if path := configPath(flags); path != "" {
		faults = append(faults, applyFile(flags, path)...)
	}
	if len(faults) > 0 {
		return &usageError{faults: faults}
	}
	return nil
}

func configPath(flags *pflag.FlagSet) string {
	if f := flags.Lookup(configFlag); f != nil {
		return f.Value.String()
	}
	return ""
}

// applyFile is the YAML layer of applySettings; it returns its faults.
func applyFile(flags *pflag.FlagSet, path string) (faults []string) {
	k := koanf.New(noDelim)
	if err := k.Load(file.Provider(path), yaml.Parser()); err != nil {
		if os.IsNotExist(err) {
			return []string{fmt.Sprintf("--%s %s: no such file", configFlag, path)}
		}
		return []string{fmt.Sprintf("--%s %s: %v", configFlag, path, err)}
	}
	raw := k.Raw()
	for _, key := range sortedKeys(raw) {
		f := flags.Lookup(key)
		if f == nil || key == configFlag || key == "help" {
			faults = append(faults, fmt.Sprintf("%s: unknown setting %q", path, key))
			continue
		}
		if f.Changed {
			continue
		}
		values, err := yamlValues(raw[key])
		if err == nil {
			err = setFlag(flags, f, values)
		}
		if err != nil {
			faults = append(faults, fmt.Sprintf("%s: %s: %v", path, key, err))
		}
	}
	return faults
}

// envValue splits the value of a list at spaces; no entry of a list holds one.
func envValue(f *pflag.Flag, value string) []string {
	if _, list := f.Value.(pflag.SliceValue); list {
		return strings.Fields(value)
	}
	return []string{value}
}

// yamlValues flattens a scalar or a list of scalars.
func yamlValues(v any) ([]string, error) {
	switch v := v.(type) {
	case nil:
		return nil, fmt.Errorf("no value")
	case map[string]any:
		return nil, fmt.Errorf("a mapping, want a value or a list")
	case []any:
		out := make([]string, 0, len(v))
		for _, e := range v {
			values, err := yamlValues(e)
			if err != nil {
				return nil, err
			}
			out = append(out, values...)
		}
		return out, nil
	}
	return []string{fmt.Sprint(v)}, nil
}

func setFlag(flags *pflag.FlagSet, f *pflag.Flag, values []string) error {
	if list, ok := f.Value.(pflag.SliceValue); ok {
		if err := list.Replace(values); err != nil {
			return err
		}
		f.Changed = true
		return nil
	}
	if len(values) != 1 {
		return fmt.Errorf("a list, want one value")
	}
	return flags.Set(f.Name, values[0])
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
