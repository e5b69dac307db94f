package manifest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// extensions are the file name extensions of manifests in a directory, as with kubectl.
var extensions = []string{".json", ".yaml", ".yml"}

// fetchTimeout bounds the reading of a URL.
const fetchTimeout = time.Minute

// expand replaces a directory by the manifests in it.
func expand(file string) ([]string, *Problem) {
	if info, err := os.Stat(file); file == "-" || isURL(file) || err != nil || !info.IsDir() {
		return []string{file}, nil
	}
	entries, err := os.ReadDir(file)
	if err != nil {
		return nil, &Problem{Place: Place{File: file}, Message: "cannot be read", Remedy: cause(err)}
	}
	var files []string
	for _, e := range entries { // sorted by name
		if !e.IsDir() && slices.Contains(extensions, filepath.Ext(e.Name())) {
			files = append(files, filepath.Join(file, e.Name()))
		}
	}
	if len(files) == 0 {
		return nil, &Problem{Place: Place{File: file}, Message: "is a directory without manifests",
			Remedy: "put files into it that end in " + strings.Join(extensions, ", ") + "; directories in it are not looked into"}
	}
	return files, nil
}

func isURL(file string) bool {
	return strings.HasPrefix(file, "http://") || strings.HasPrefix(file, "https://")
}

// fetch reads a manifest from a URL.
func fetch(ctx context.Context, url string) ([]byte, *Problem) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	unfetched := func(why string) *Problem {
		return &Problem{Place: Place{File: url}, Message: "cannot be read", Remedy: why}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, unfetched(err.Error())
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, unfetched(err.Error())
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, unfetched("the server answers " + response.Status)
	}
	return limited(url, response.Body)
}

// build builds the kustomization of a directory.
func build(dir string) ([]byte, *Problem) {
	unbuilt := func(err error) *Problem {
		return &Problem{Place: Place{File: dir}, Message: "cannot be built by kustomize", Remedy: strings.ReplaceAll(err.Error(), "\n", " ")}
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, unbuilt(err)
	}
	text, err := objects.AsYaml()
	if err != nil {
		return nil, unbuilt(err)
	}
	if len(text) > MaxFileSize {
		return nil, tooLarge(fmt.Sprintf("what kustomize builds of %s", dir))
	}
	return text, nil
}
