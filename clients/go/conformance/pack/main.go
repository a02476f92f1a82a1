// Command pack lays this module out as a module proxy would serve it (see
// https://go.dev/ref/mod#goproxy-protocol), so that a test can install it:
//
//	go run ./conformance/pack FOLDER
package main

import (
	"archive/zip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	postrider "postrider.example/postrider-go"
)

const modulePath = "postrider.example/postrider-go"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pack FOLDER")
		os.Exit(2)
	}
	if err := pack(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func pack(folder string) error {
	version := "v" + postrider.Version
	place := filepath.Join(folder, filepath.FromSlash(modulePath), "@v")
	if err := os.MkdirAll(place, 0o755); err != nil {
		return err
	}
	manifest, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"list":            []byte(version + "\n"),
		version + ".info": []byte(`{"Version":"` + version + `"}`),
		version + ".mod":  manifest,
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(place, name), content, 0o644); err != nil {
			return err
		}
	}
	return writeZip(filepath.Join(place, version+".zip"), modulePath+"@"+version+"/")
}

func writeZip(name, prefix string) error {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer file.Close()
	archive := zip.NewWriter(file)
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return addFile(archive, prefix, path)
	})
	if err != nil {
		return err
	}
	return archive.Close()
}

func addFile(archive *zip.Writer, prefix, path string) error {
	source, err := os.Open(path)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := archive.Create(prefix + filepath.ToSlash(path))
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return err
}
