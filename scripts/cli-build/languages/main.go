// Writes Pulumi's generated SDKs of a schema: `go run . SCHEMA FOLDER`, one subfolder for each language.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	dotnet "github.com/pulumi/pulumi/pkg/v3/codegen/dotnet"
	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

const tool = "pulumi-advertising"

func main() {
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type files = map[string][]byte

func run(schemaPath, folder string) error {
	text, err := os.ReadFile(schemaPath)
	if err != nil {
		return err
	}
	// The generator for .NET downloads its package's logo.
	logo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var picture bytes.Buffer
		_ = png.Encode(&picture, image.NewGray(image.Rect(0, 0, 64, 64)))
		_, _ = w.Write(picture.Bytes())
	}))
	defer logo.Close()
	generators := map[string]func(*schema.Package) (files, error){
		"nodejs": func(p *schema.Package) (files, error) {
			return nodejs.GeneratePackage(tool, p, nil, nil, false, nil)
		},
		"python": func(p *schema.Package) (files, error) { return python.GeneratePackage(tool, p, nil, nil) },
		"go":     func(p *schema.Package) (files, error) { return golang.GeneratePackage(tool, p, nil) },
		"dotnet": func(p *schema.Package) (files, error) {
			p.LogoURL = logo.URL
			return dotnet.GeneratePackage(tool, p, nil, nil)
		},
	}
	for language, generate := range generators {
		// Each generator writes its own notes into the package.
		var spec schema.PackageSpec
		if err := json.Unmarshal(text, &spec); err != nil {
			return fmt.Errorf("%s: %w", schemaPath, err)
		}
		pkg, diagnostics, err := schema.BindSpec(spec, nil, schema.ValidationOptions{})
		if err != nil {
			return err
		}
		if diagnostics.HasErrors() {
			return diagnostics
		}
		generated, err := generate(pkg)
		if err != nil {
			return fmt.Errorf("%s: %w", language, err)
		}
		for name, content := range generated {
			path := filepath.Join(folder, language, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(path, content, 0o644); err != nil {
				return err
			}
		}
		fmt.Printf("%s: %d files\n", language, len(generated))
	}
	return nil
}
