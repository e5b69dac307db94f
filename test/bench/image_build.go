package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// file is one file of a layer.
type file struct {
	name    string
	content []byte
}

// archiveOf packs executable files, and the directories that container tools mount over.
func archiveOf(files []file) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, dir := range []string{"bin", "dev", "etc", "proc", "sys", "tmp"} {
		if err := w.WriteHeader(&tar.Header{Name: dir, Mode: 0o755, Typeflag: tar.TypeDir}); err != nil {
			return nil, err
		}
	}
	for _, f := range files {
		if err := w.WriteHeader(&tar.Header{Name: f.name, Mode: 0o755, Size: int64(len(f.content)), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), w.Close()
}

// imageOf makes an image of layers.
func imageOf(layers ...[]file) (v1.Image, error) {
	var all []v1.Layer
	for _, files := range layers {
		packed, err := archiveOf(files)
		if err != nil {
			return nil, err
		}
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed)), nil })
		if err != nil {
			return nil, err
		}
		all = append(all, layer)
	}
	image, err := mutate.AppendLayers(empty.Image, all...)
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = "linux", runtime.GOARCH
	return mutate.ConfigFile(image, config)
}

// trueProgram is /bin/true for an image: busybox, which needs no libraries.
func trueProgram() (file, error) {
	path, err := exec.LookPath("busybox")
	if err != nil {
		return file{}, fmt.Errorf("there is nothing to make an image of: install busybox-static: %w", err)
	}
	content, err := os.ReadFile(path)
	return file{"bin/true", content}, err
}

// plausible returns n bytes that compress to about a third, as programs do.
func plausible(seed uint64, n int) []byte {
	random := rand.New(rand.NewPCG(seed, seed))
	content := make([]byte, 0, n+64)
	words := make([][]byte, 512)
	for i := range words {
		words[i] = make([]byte, 4+random.IntN(12))
		for j := range words[i] {
			words[i][j] = byte(random.Uint32())
		}
	}
	for len(content) < n {
		content = append(content, words[random.IntN(len(words))]...)
		content = append(content, byte(random.Uint32()), byte(random.Uint32()))
	}
	return content[:n]
}
