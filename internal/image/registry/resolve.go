package registry

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/stint-dev/stint/internal/image/bounded"
	"github.com/stint-dev/stint/internal/image/registry/hosts"
)

// Resolve fetches the description of an image for this platform. It writes no files. The connections to the image's registry, which
// Fetch uses too, end with ctx.
func (c *Client) Resolve(ctx context.Context, ref Reference) (*Image, error) {
	from, err := c.source(ctx, ref)
	if err != nil {
		return nil, err
	}
	image, err := c.resolve(ctx, from, ref)
	return image, withoutSecrets(err, from.secrets)
}

func (c *Client) resolve(ctx context.Context, from *source, ref Reference) (*Image, error) {
	top, err := c.document(ctx, from, ref)
	if err != nil {
		return nil, err
	}
	d := top
	for depth := 0; d.index != nil; depth++ {
		if depth == maxDepth {
			return nil, unsupported("its indexes are nested too deeply")
		}
		if d, err = c.inIndex(ctx, from, d); err != nil {
			return nil, err
		}
	}
	image := &Image{Digest: top.digest, from: from}
	if err := c.complete(ctx, image, d.image); err != nil {
		return nil, err
	}
	return image, nil
}

// inIndex fetches the entry of an index that suits this platform.
func (c *Client) inIndex(ctx context.Context, from *source, d *document) (*document, error) {
	chosen, err := choose(c.config.Platform, d.index.Manifests)
	if err != nil {
		return nil, err
	}
	ref := from.reference
	ref.Digest = chosen.Digest
	next, err := c.document(ctx, from, ref)
	if err != nil {
		return nil, err
	}
	if int64(len(next.bytes)) != chosen.Size {
		return nil, mismatch("the manifest %s has %d bytes, the index says %d", chosen.Digest, len(next.bytes), chosen.Size)
	}
	return next, nil
}

// complete adds the configuration and the layers.
func (c *Client) complete(ctx context.Context, image *Image, m *v1.Manifest) error {
	if err := checkImage(m); err != nil {
		return err
	}
	err := bounded.CheckSize(m.Config.Size)
	if err != nil {
		return tooLarge("the configuration", err)
	}
	image.Config, _, err = c.small(ctx, image.from, request{
		what: "blobs/" + m.Config.Digest.String(), is: "the configuration", digest: m.Config.Digest, limit: m.Config.Size, may: mayPull,
	})
	if err != nil {
		return err
	}
	var config v1.ConfigFile
	if err := unmarshal(image.Config, &config, "the configuration", "is damaged"); err != nil {
		return err
	}
	if err := suits(c.config.Platform, &config); err != nil {
		return err
	}
	image.Layers, err = layers(m)
	return err
}

// suits returns an error if the configuration is for another platform. Old images do not name one.
func suits(want v1.Platform, f *v1.ConfigFile) error {
	if f.OS == "" || f.Architecture == "" {
		return nil
	}
	p := v1.Platform{OS: f.OS, Architecture: f.Architecture, Variant: f.Variant}
	if rank(want, p) < 0 {
		return noPlatform(want, []string{p.String()})
	}
	return nil
}

// document fetches the manifest or index of ref.
func (c *Client) document(ctx context.Context, from *source, ref Reference) (*document, error) {
	may := mayResolve
	if ref.byDigest() {
		may = mayPull
	}
	data, contentType, err := c.small(ctx, from, request{
		what: ref.manifest(), is: "the manifest", accept: accepted, digest: ref.Digest, limit: bounded.MaxBytes, may: may,
	})
	if err != nil {
		return nil, err
	}
	d, err := parseDocument(contentType, data)
	if err != nil {
		return nil, err
	}
	d.digest, _, err = v1.SHA256(bytes.NewReader(data))
	return d, err
}

// request is for something that is read into memory.
type request struct {
	// what is its path in the repository; is says in words what that is.
	what, is string
	accept   []types.MediaType
	// digest is the zero Hash if only a tag is known.
	digest v1.Hash
	limit  int64
	may    func(hosts.Host) bool
}

func (c *Client) small(ctx context.Context, from *source, r request) (data []byte, contentType types.MediaType, err error) {
	once := func() error {
		return from.each(ctx, r.may, func(d *endpoint) error {
			var err error
			data, contentType, err = c.smallAt(ctx, d, r)
			return err
		})
	}
	err = c.persist(ctx, once, never)
	return data, contentType, err
}

func (c *Client) smallAt(ctx context.Context, d *endpoint, r request) ([]byte, types.MediaType, error) {
	ctx, guard := c.guard(ctx, r.is)
	defer guard.stop()
	header := http.Header{}
	for _, t := range r.accept {
		header.Add("Accept", string(t))
	}
	resp, err := d.get(ctx, r.what, header)
	if err != nil {
		return nil, "", err
	}
	defer guard.close(resp.Body)
	if resp.StatusCode != http.StatusOK {
		return nil, "", &Error{Kind: ErrBadAnswer, Detail: statusText(resp.StatusCode)}
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, r.limit+1))
	if err != nil {
		return nil, "", failed(ctx, err)
	}
	if err := bounded.CheckSize(int64(len(data))); err != nil {
		return nil, "", tooLarge(r.is, err)
	}
	if int64(len(data)) > r.limit {
		return nil, "", &Error{Kind: ErrTooLarge, Detail: "larger than its manifest says", said: r.what}
	}
	promised := r.digest
	if promised == (v1.Hash{}) {
		promised, _ = v1.NewHash(resp.Header.Get("Docker-Content-Digest"))
	}
	got, _, _ := v1.SHA256(bytes.NewReader(data))
	if known(promised) && got != promised {
		return nil, "", mismatch("the answer has the digest %s, not %s", got, promised)
	}
	contentType, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	return data, types.MediaType(strings.TrimSpace(contentType)), nil
}
