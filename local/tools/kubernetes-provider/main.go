// Command pulumi-resource-kubernetes is Pulumi's Kubernetes provider.
//
// The provider's own main embeds a generated file that its module does not carry. This one embeds the two
// files that the module does carry; the build copies them beside this file and sets the schema's version.
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, mapping)
}
