package env

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/beneath"
)

// maxFile is how large a file with variables may be.
const maxFile = 1 << 20

// fileKey returns the value of a variable in a file of a volume, which a container before this one has written.
func fileKey(volumesDir string, ref *corev1.FileKeySelector) (string, bool, error) {
	optional := ptr.Deref(ref.Optional, false)
	text, err := readBeneath(filepath.Join(volumesDir, ref.VolumeName), ref.Path)
	if errors.Is(err, fs.ErrNotExist) && optional {
		return "", false, nil
	}
	if err != nil {
		return "", false, fmt.Errorf("file %s of volume %s: %w", ref.Path, ref.VolumeName, err)
	}
	value, found, err := fileValue(text, ref.Key)
	if err != nil {
		return "", false, fmt.Errorf("file %s of volume %s: %w", ref.Path, ref.VolumeName, err)
	}
	return value, found, missing(found, ref.Optional, ref.Key, "file", ref.Path+" of volume "+ref.VolumeName)
}

// readBeneath reads a file of a volume. Containers may have put anything there: links lead nowhere outside, and what is not
// a regular file is not read.
func readBeneath(dir, path string) (string, error) {
	root, err := os.Open(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	file, err := beneath.OpenInRoot(int(root.Fd()), path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY)
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("is not a regular file")
	case info.Size() > maxFile:
		return "", fmt.Errorf("is larger than %d bytes", maxFile)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	return string(text), err
}

// fileValue returns the value of a variable in a text of lines as NAME='value'. The values of Kubernetes' format are
// always in single quotes, and may have several lines. A space after the equals sign makes an empty value, as in a shell.
// Errors quote nothing of the text, which may be long and secret.
func fileValue(text, key string) (value string, found bool, err error) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for line := 1; text != ""; line++ {
		var current string
		current, text, _ = strings.Cut(text, "\n")
		current = strings.TrimLeft(current, " \t")
		if current == "" || current[0] == '#' {
			continue
		}
		name, rest, isAssignment := strings.Cut(current, "=")
		switch {
		case !isAssignment:
			return "", false, fmt.Errorf("line %d: lacks an equals sign: write NAME='value'", line)
		case name == "":
			return "", false, fmt.Errorf("line %d: there is no name: write NAME='value'", line)
		case strings.TrimRight(name, " \t") != name:
			return "", false, fmt.Errorf("line %d: there is a space before the equals sign: write NAME='value'", line)
		case strings.HasPrefix(rest, " ") || strings.HasPrefix(rest, "\t"):
			value = ""
		case !strings.HasPrefix(rest, "'"):
			return "", false, fmt.Errorf("line %d: the value is not in single quotes: write NAME='value'", line)
		default:
			var after string
			if value, after, found = strings.Cut(rest[1:]+"\n"+text, "'"); !found {
				return "", false, fmt.Errorf("line %d: the value has no closing quote", line)
			}
			rest, text, _ = strings.Cut(after, "\n")
			if rest = strings.TrimLeft(rest, " \t"); rest != "" && rest[0] != '#' {
				return "", false, fmt.Errorf("line %d: there is something after the closing quote", line)
			}
			line += strings.Count(value, "\n")
		}
		if name == key {
			return value, true, nil
		}
	}
	return "", false, nil
}
