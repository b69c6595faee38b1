package kubernetes

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A directory travels as a tar file that is compressed: gzip ends with a sum of all that was
// before, so that what was cut in the middle is never taken for the whole.

// pack writes the files and directories below dir. What is neither is left out: nothing else is
// recorded.
func pack(w io.Writer, dir string) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed) // others may be measuring on this node
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return packOne(t, path, filepath.ToSlash(name), d)
	})
	if err != nil { // and no end, by which it would look whole
		return err
	}
	return errors.Join(t.Close(), z.Close())
}

func packOne(t *tar.Writer, path, name string, d fs.DirEntry) error {
	info, err := d.Info()
	if err != nil {
		return err
	}
	if !d.IsDir() && !info.Mode().IsRegular() {
		return nil
	}
	h, err := tar.FileInfoHeader(info, "")
	if err != nil {
		return err
	}
	h.Name = name
	h.Uid, h.Gid, h.Uname, h.Gname = 0, 0, "", ""
	if err := t.WriteHeader(h); err != nil || d.IsDir() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(t, f)
	return err
}

// unpack makes dir of what [pack] has written; it must not be there. The error of what ends in
// the middle is io.ErrUnexpectedEOF. Nothing comes to lie outside of dir, whoever wrote it.
func unpack(r io.Reader, dir string) error {
	z, err := gzip.NewReader(r)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	t := tar.NewReader(z)
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, z) // up to the sum
			return err
		}
		if err == nil {
			err = unpackOne(root, h, t)
		}
		if err != nil {
			return err
		}
	}
}

func unpackOne(root *os.Root, h *tar.Header, content io.Reader) error {
	name := filepath.FromSlash(h.Name)
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeReg:
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	}
	return fmt.Errorf("%s is neither a file nor a directory", h.Name)
}
