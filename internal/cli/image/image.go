// Package image is stint image, which manages the images of this machine.
package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/stint-dev/stint/internal/cli/command"
	"github.com/stint-dev/stint/internal/cli/run"
	"github.com/stint-dev/stint/internal/image/archive"
	"github.com/stint-dev/stint/internal/image/progress"
	"github.com/stint-dev/stint/internal/image/pull"
	"github.com/stint-dev/stint/internal/image/registry"
	"github.com/stint-dev/stint/internal/image/store"
)

// imageFlags are the flags of all commands about images.
type imageFlags struct {
	streams genericiooptions.IOStreams
	dir     string
}

func (f *imageFlags) open() (*store.Store, error) {
	dir := f.dir
	if dir == "" {
		var err error
		if dir, err = store.DefaultDir(); err != nil {
			return nil, err
		}
	}
	return store.Open(dir)
}

// NewCommand returns the command stint image.
func NewCommand(streams genericiooptions.IOStreams) *cobra.Command {
	f := &imageFlags{streams: streams}
	cmd := &cobra.Command{
		Use:     "image",
		Short:   "Pull, list and remove the images of this machine",
		GroupID: command.GroupOther,
		Long: `Pull, list and remove the images that containers run from. Each user has one store, for all servers and runs.

It is in /var/lib/stint/images for root, else in stint/images below $XDG_DATA_HOME or ~/.local/share.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return command.Unknown(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.PersistentFlags().StringVar(&f.dir, "image-dir", "", "directory of the image store (default: that of the user)")
	cmd.AddCommand(f.pull(), f.load(), f.list(), f.remove(), f.prune())
	return cmd
}

func (f *imageFlags) pull() *cobra.Command {
	return &cobra.Command{
		Use:     "pull IMAGE…",
		Short:   "Pull images from their registries",
		Example: "  stint image pull perl:5.34.0 registry.example.com/team/worker@sha256:…",
		Args:    command.AtLeastOne("the name of an image"),
		RunE: untilInterrupted(func(ctx context.Context, args []string) error {
			s, err := f.open()
			if err != nil {
				return err
			}
			client := pull.Client()
			for _, text := range args {
				ref, err := registry.Parse(text)
				if err != nil {
					return command.BadInputf("%w", err)
				}
				line := newPullLine(f.streams.Out, ref.String())
				image, err := pull.Image(ctx, client, s, ref, line.show)
				line.end()
				if err != nil {
					return err
				}
				f.added(image)
			}
			return nil
		}),
	}
}

// untilInterrupted ends the context of a command on Ctrl-C, so that the command can clean up.
func untilInterrupted(do func(ctx context.Context, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		err := do(ctx, args)
		if err != nil && ctx.Err() != nil {
			return run.ErrInterrupted
		}
		return err
	}
}

func (f *imageFlags) added(image store.Image) {
	fmt.Fprintf(f.streams.Out, "%s %s\n", image.Name, image.Digest)
}

func (f *imageFlags) load() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "load FILE|DIR…",
		Short: "Load images from archives of docker save, or from OCI layouts",
		Example: `  docker save worker:1 | gzip > worker.tar.gz
  stint image load worker.tar.gz
  stint image load --name worker:1 ./layout`,
		Args: command.AtLeastOne("an archive or a directory"),
		RunE: untilInterrupted(func(ctx context.Context, args []string) error {
			s, err := f.open()
			if err != nil {
				return err
			}
			for _, file := range args {
				err := archive.Read(ctx, s, file, func(image archive.Image) error { return f.addNamed(ctx, s, image, name) })
				if err != nil {
					return fmt.Errorf("load %s: %w", file, err)
				}
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the image, if the file has none or another one is wanted")
	return cmd
}

func (f *imageFlags) addNamed(ctx context.Context, s *store.Store, image archive.Image, name string) error {
	if name != "" {
		image.Names = []string{name}
	}
	if len(image.Names) == 0 {
		return command.BadInputf("the file does not name its image: add --name")
	}
	names, err := image.FullNames()
	if err != nil {
		return command.BadInputf("%w", err)
	}
	for _, n := range names {
		added, err := s.Add(ctx, n, image.Source, nil)
		if err != nil {
			return err
		}
		f.added(added)
	}
	return nil
}

func (f *imageFlags) list() *cobra.Command {
	return &cobra.Command{
		Use:     "ls",
		Aliases: []string{"list"},
		Short:   "List the images",
		Args:    command.Exactly(0, ""),
		RunE: func(*cobra.Command, []string) error {
			s, err := f.open()
			if err != nil {
				return err
			}
			images, err := s.List()
			if err != nil {
				return err
			}
			table := tabwriter.NewWriter(f.streams.Out, 0, 8, 3, ' ', 0)
			fmt.Fprintln(table, "NAME\tDIGEST\tSIZE\tAGE")
			for _, i := range images {
				fmt.Fprintf(table, "%s\t%.19s\t%s\t%s\n", i.Name, i.Digest, progress.Bytes(i.Size), duration.HumanDuration(time.Since(i.AddedAt)))
			}
			return table.Flush()
		},
	}
}

func (f *imageFlags) remove() *cobra.Command {
	return &cobra.Command{
		Use:   "rm IMAGE…",
		Short: "Remove images",
		Long: `Remove images by their names. Layers that no other image needs are removed from disk at once, except those that
running containers use: stint image prune removes these later.`,
		Args: command.AtLeastOne("the name of an image"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := f.open()
			if err != nil {
				return err
			}
			var failed []error
			for _, text := range args {
				failed = append(failed, removeOne(s, text, f.streams.Out))
			}
			_, err = s.Prune(cmd.Context())
			return errors.Join(append(failed, err)...)
		},
	}
}

func removeOne(s *store.Store, text string, out io.Writer) error {
	ref, err := registry.Parse(text)
	if err != nil {
		return command.BadInputf("%w", err)
	}
	found, err := s.Remove(ref.String())
	if err == nil && !found {
		err = fmt.Errorf("there is no image %s: see stint image ls", ref)
	}
	if err == nil {
		fmt.Fprintf(out, "%s removed\n", ref)
	}
	return err
}

func (f *imageFlags) prune() *cobra.Command {
	return &cobra.Command{
		Use:   "prune",
		Short: "Remove unused data of the image store",
		Args:  command.Exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := f.open()
			if err != nil {
				return err
			}
			p, err := s.Prune(cmd.Context())
			if err != nil {
				return err
			}
			fmt.Fprintf(f.streams.Out, "removed %d trees and %d layers; %d are in use\n", p.Trees, p.Layers, p.InUse)
			return nil
		},
	}
}
