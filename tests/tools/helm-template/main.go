// Renders a packed chart as a release would: what Helm's own code makes of a chart, its schema and the values.
//
// It reads one JSON document from stdin and writes one to stdout, so that a test can compare the whole output.
// Nothing but Helm's chart and engine packages is used: no cluster, no registry, no helm CLI.
package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/yaml"
)

type request struct {
	Chart       string                 `json:"chart"`
	Name        string                 `json:"name"`
	Namespace   string                 `json:"namespace"`
	KubeVersion string                 `json:"kubeVersion"`
	APIVersions []string               `json:"apiVersions"`
	Values      map[string]interface{} `json:"values"`
}

type answer struct {
	Version   string                   `json:"version"`
	Values    map[string]interface{}   `json:"values"`
	CRDs      []map[string]interface{} `json:"crds"`
	Manifests []map[string]interface{} `json:"manifests"`
	Notes     string                   `json:"notes"`
	Error     string                   `json:"error"`
}

func documents(text string) ([]map[string]interface{}, error) {
	found := []map[string]interface{}{}
	for _, part := range strings.Split("\n"+text, "\n---") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		object := map[string]interface{}{}
		if err := yaml.UnmarshalStrict([]byte(part), &object); err != nil {
			return nil, fmt.Errorf("%w in:\n%s", err, part)
		}
		if len(object) > 0 {
			found = append(found, object)
		}
	}
	return found, nil
}

func render(in request) (answer, error) {
	out := answer{CRDs: []map[string]interface{}{}, Manifests: []map[string]interface{}{}}
	chart, err := loader.Load(in.Chart)
	if err != nil {
		return out, err
	}
	out.Version = chart.Metadata.Version
	kube, err := chartutil.ParseKubeVersion(in.KubeVersion)
	if err != nil {
		return out, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = *kube
	capabilities.APIVersions = append(capabilities.APIVersions[:0:0], in.APIVersions...)
	if in.Values == nil {
		in.Values = map[string]interface{}{}
	}
	options := chartutil.ReleaseOptions{Name: in.Name, Namespace: in.Namespace, Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(chart, in.Values, options, capabilities)
	if err != nil {
		return out, err
	}
	out.Values = values["Values"].(chartutil.Values)
	for _, crd := range chart.CRDObjects() {
		objects, err := documents(string(crd.File.Data))
		if err != nil {
			return out, err
		}
		out.CRDs = append(out.CRDs, objects...)
	}
	files, err := engine.Render(chart, values)
	if err != nil {
		return out, err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if path.Base(name) == "NOTES.txt" {
			out.Notes = files[name]
			continue
		}
		if strings.HasPrefix(path.Base(name), "_") {
			continue
		}
		objects, err := documents(files[name])
		if err != nil {
			return out, fmt.Errorf("%s: %w", name, err)
		}
		out.Manifests = append(out.Manifests, objects...)
	}
	return out, nil
}

func main() {
	var in request
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	out, err := render(in)
	if err != nil {
		out.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
