// Answers "does this device match this expression?" with Kubernetes' own CEL package.
//
// One JSON question per line on stdin, one JSON answer per line on stdout. An expression is compiled as
// the API server compiles a new one and, when that is accepted, evaluated as the scheduler evaluates it.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/dynamic-resource-allocation/cel"
)

type attribute struct {
	String  *string `json:"string,omitempty"`
	Int     *int64  `json:"int,omitempty"`
	Bool    *bool   `json:"bool,omitempty"`
	Version *string `json:"version,omitempty"`
}

type device struct {
	Driver                   string               `json:"driver"`
	AllowMultipleAllocations bool                 `json:"allowMultipleAllocations"`
	Attributes               map[string]attribute `json:"attributes"`
	Capacity                 map[string]string    `json:"capacity"`
}

type question struct {
	Expression         string `json:"expression"`
	ConsumableCapacity bool   `json:"consumableCapacity"` // off up to 1.35, on from 1.36
	Device             device `json:"device"`
}

type answer struct {
	Answer string `json:"answer"` // compile error, runtime error, true, false
	Text   string `json:"text,omitempty"`
	Cost   uint64 `json:"cost,omitempty"`
}

type selector struct {
	expression         string
	consumableCapacity bool
}

// Most questions ask about many devices with one expression.
var known = map[selector]cel.CompilationResult{}

func compile(s selector) cel.CompilationResult {
	result, found := known[s]
	if !found {
		compiler := cel.GetCompiler(cel.Features{EnableConsumableCapacity: s.consumableCapacity})
		fresh := environment.NewExpressions
		result = compiler.CompileCELExpression(s.expression, cel.Options{EnvType: &fresh})
		known[s] = result
	}
	return result
}

func ask(q question) answer {
	if len(q.Expression) > resourceapi.CELSelectorExpressionMaxLength {
		return answer{Answer: "compile error", Text: "too long"}
	}
	compiled := compile(selector{q.Expression, q.ConsumableCapacity})
	if compiled.Error != nil {
		return answer{Answer: "compile error", Text: compiled.Error.Error()}
	}
	if compiled.MaxCost > resourceapi.CELSelectorExpressionMaxCost {
		return answer{Answer: "compile error", Text: "too expensive", Cost: compiled.MaxCost}
	}
	input := cel.Device{
		Driver:                   q.Device.Driver,
		AllowMultipleAllocations: &q.Device.AllowMultipleAllocations,
		Attributes:               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute{},
		Capacity:                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity{},
	}
	for name, a := range q.Device.Attributes {
		input.Attributes[resourceapi.QualifiedName(name)] = resourceapi.DeviceAttribute{
			StringValue: a.String, IntValue: a.Int, BoolValue: a.Bool, VersionValue: a.Version,
		}
	}
	for name, text := range q.Device.Capacity {
		input.Capacity[resourceapi.QualifiedName(name)] = resourceapi.DeviceCapacity{Value: resource.MustParse(text)}
	}
	matches, _, err := compiled.DeviceMatches(context.Background(), input)
	if err != nil {
		return answer{Answer: "runtime error", Text: err.Error(), Cost: compiled.MaxCost}
	}
	return answer{Answer: fmt.Sprintf("%t", matches), Cost: compiled.MaxCost}
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var q question
		if err := json.Unmarshal(in.Bytes(), &q); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		if err := out.Encode(ask(q)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	if err := in.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
