package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/serve"
	"github.com/spf13/cobra"
)

// localAddress is where the site is, if nobody wants it elsewhere.
const localAddress = "127.0.0.1:7070"

// serveFlags are those of serve.
type serveFlags struct {
	listen string
	public bool
}

func serveCommand() *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Show all runs in a browser, live while one goes on",
		Long: `serve shows the runs, matrices, explorations, benchmarks, gates and studies in a directory
(default: runs) in a browser, the newest first, and the page of each. What still goes on is
followed without reloading. Histories, logs and pictures are there, too, and at /metrics counts for
Prometheus.

It writes nothing into the directory, and follows no link that leads out of it. Only this
machine can reach it: --listen takes another address only with --public, and then whoever
reaches the address can read all of it. It goes on until Ctrl-C, and then ends with 0.`,
		Example: `  lockbench serve
  lockbench serve --listen 127.0.0.1:0 ci/runs
  lockbench serve --public --listen 10.0.0.7:7070`,
		Args: args(cobra.MaximumNArgs(1)),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, dirs []string) error {
			dir := rundir.Home
			if len(dirs) > 0 {
				dir = dirs[0]
			}
			if err := servable(dir); err != nil {
				return err
			}
			return f.serve(cmd, dir)
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", localAddress, "address and port; port 0 is any that is free")
	cmd.Flags().BoolVar(&f.public, "public", false, "let other machines reach it, too")
	return cmd
}

// servable says why a directory can't be shown, and what to do about it.
func servable(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return usage("there is no directory %s; the first run makes %s (%s), or name the directory that holds yours", dir, rundir.Home,
			shellLine("run", "--algorithm", "redis-setpx-lua", "--fault", "pause-holder"))
	case err != nil:
		return usage("%w", err)
	case !info.IsDir():
		return usage("%s is a file; name the directory that holds the directories of runs", dir)
	}
	if kind, err := rundir.Kind(dir); err == nil {
		return usage("%s is %s itself; name the directory that it lies in", dir, kind.One())
	}
	return nil
}

// address is where to listen: on this machine's loopback, unless all may come.
func (f *serveFlags) address() (*net.TCPAddr, error) {
	at, err := net.ResolveTCPAddr("tcp", f.listen)
	switch {
	case f.listen == "": // which net takes for any address
		return nil, usage("--listen is empty: it takes an address and port, such as %s", localAddress)
	case err != nil:
		return nil, usage("--listen %s: it is no address and port, such as 127.0.0.1:7070: %w", f.listen, err)
	case !f.public && !at.IP.IsLoopback():
		return nil, usage("--listen %s: other machines could reach it, and read all runs, logs and whatever lies there; add --public if they shall", f.listen)
	}
	return at, nil
}

func (f *serveFlags) serve(cmd *cobra.Command, dir string) error {
	at, err := f.address()
	if err != nil {
		return err
	}
	l, err := net.ListenTCP("tcp", at)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("--listen %s: another program listens there, perhaps a lockbench serve; --listen %s takes a port that is free: %w",
			f.listen, net.JoinHostPort(at.IP.String(), "0"), err)
	} else if err != nil {
		return fmt.Errorf("--listen %s: %w", f.listen, err)
	}
	saveMemory()
	server := serve.New(dir, f.public).HTTP()
	ended := make(chan struct{})
	context.AfterFunc(cmd.Context(), func() {
		defer close(ended)
		// Answers that are on their way have a moment; a page that is being made is left behind.
		moment, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = errors.Join(server.Shutdown(moment), server.Close()) // it ends, in any case
	})
	fmt.Fprintf(cmd.OutOrStdout(), "http://%s/\n", l.Addr())
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	<-ended
	return nil
}
