//go:build tools

// Package tools pins the Pulumi command line, which is built from here:
// its own module holds a replace directive, and `go install` refuses such modules.
package tools

import _ "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi"
