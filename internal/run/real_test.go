package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	lb "github.com/lockbench/lockbench"
	"github.com/lockbench/lockbench/backends"
	"github.com/lockbench/lockbench/checker"
	"github.com/lockbench/lockbench/cli"
	"github.com/lockbench/lockbench/faults"
	"github.com/lockbench/lockbench/history"
	"github.com/lockbench/lockbench/impls/etcd"
	"github.com/lockbench/lockbench/impls/mysql"
	"github.com/lockbench/lockbench/impls/redis"
	"github.com/lockbench/lockbench/impls/zk"
	"github.com/lockbench/lockbench/internal/catalog"
	"github.com/lockbench/lockbench/internal/run"
	"github.com/lockbench/lockbench/internal/rundir"
	"github.com/lockbench/lockbench/internal/testkit"
	"github.com/lockbench/lockbench/internal/testkit/labtest"
	"github.com/lockbench/lockbench/lab"
	"github.com/lockbench/lockbench/workloads"
)

func TestMain(m *testing.M) {
	testkit.Main(m, func(args []string) int { return cli.Main(args, things()) })
}

// things are what the runner is tested with: a lock that works, and what can go wrong
// with it, with the faults and with the work.
func things() catalog.Catalog {
	return catalog.Catalog{
		Locks: []lb.Impl{redis.SetPXLua(), redis.Fenced(), zk.Sequential(), etcd.Lease(), mysql.GetLock(), etcd.V3Lock(), mysql.ForUpdate(), redis.SetPXDel(), redis.Watchdog(), wrapped{"noisy"}, wrapped{"panics"}},
		Faults: append(faults.All(), slowInjection(), halfInjection(), nobody(), nobodyAgain(), twoMoves(), shortMix(),
			unanswered("lost-grant"), unanswered("lose-reply")),
		More:       faults.More(),
		Workloads:  append(workloads.All(), failing{}, judging{}),
		Topologies: backends.Topologies(),
		Labs:       []lab.Driver{lab.Local()},
		Stores:     backends.Stores(),
	}
}

// wrapped is the lock with a library's bad manners.
type wrapped struct{ name string }

func (w wrapped) Info() lb.Info {
	info := redis.SetPXLua().Info()
	info.Name = w.name
	return info
}

func (w wrapped) Open(ctx context.Context, env *lb.Env) (lb.Client, error) {
	c, err := redis.SetPXLua().Open(ctx, env)
	return rude{c, w.name}, err
}

type rude struct {
	lb.Client
	name string
}

func (r rude) Acquire(ctx context.Context, req lb.Request) (*lb.Lease, error) {
	switch r.name {
	case "noisy":
		fmt.Println(`{"n":1,"say":"caught"} and more on standard output`)
	case "panics":
		if strings.HasSuffix(req.Owner, ".5") {
			panic("a lock that panics")
		}
	}
	return r.Client.Acquire(ctx, req)
}

// failing is the counter whose work fails now and then.
type failing struct{ workloads.Counter }

func (f failing) Info() workloads.Info {
	info := f.Counter.Info()
	info.Name = "failing"
	return info
}

func (f failing) Open(ctx context.Context, b workloads.Bench) (workloads.Task, error) {
	t, err := f.Counter.Open(ctx, b)
	return &failingTask{Task: t}, err
}

type failingTask struct {
	workloads.Task
	n int
}

func (t *failingTask) Run(ctx context.Context, s workloads.Session) error {
	if t.n++; t.n == 7 {
		return errors.New("the disk of the work is full")
	}
	return t.Task.Run(ctx, s)
}

// slowInjection kills a server at once, and is done with injecting long afterwards.
func slowInjection() faults.Fault {
	return faults.Fault{Name: "slow-injection", Family: faults.Servers, Lasts: faults.Length{Time: 200 * time.Millisecond},
		Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			if err := on.Kill(ctx, on.Servers()[0]); err != nil {
				return nil, err
			}
			return func() history.Proof { return history.Proof{Proven: true, Measured: "killed"} }, on.Sleep(ctx, time.Second)
		}}
}

// halfInjection kills a server and then fails.
func halfInjection() faults.Fault {
	return faults.Fault{Name: "half-injection", Family: faults.Servers,
		Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			return nil, errors.Join(on.Kill(ctx, on.Servers()[0]), errors.New("the other half went wrong"))
		}}
}

func nobody() faults.Fault {
	return faults.Fault{Name: "nobody", Family: faults.Clients,
		Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
			defer cancel()
			_, err := on.Stop(ctx, nil, "a step that nobody passes", faults.Kill)
			return nil, err
		}}
}

func nobodyAgain() faults.Fault {
	return faults.Fault{Name: "nobody-again", Repeats: true, Mix: []faults.Fault{nobody()}}
}

// twoMoves sets the clock of a worker twice to the same.
func twoMoves() faults.Fault {
	return faults.Fault{Name: "two-moves", Family: faults.Clocks, Lasts: faults.Length{Time: 100 * time.Millisecond},
		Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			w := on.Workers()[0]
			one, err := on.MoveClock(ctx, w, time.Hour, 0)
			if err != nil {
				return nil, err
			}
			two, err := on.MoveClock(ctx, w, time.Hour, 0)
			if err != nil {
				return nil, err
			}
			return func() history.Proof {
				return history.Proof{Proven: two.Ahead().Round(time.Minute) == time.Hour && one.Ahead().Round(time.Minute) == 0,
					Measured: fmt.Sprintf("%v, then %v ahead", two.Ahead(), one.Ahead())}
			}, nil
		}}
}

// shortMix strikes again and again with a fault that has a length of its own.
func shortMix() faults.Fault {
	short := faults.Fault{Name: "short", Family: faults.Servers, Lasts: faults.Length{Time: 20 * time.Millisecond},
		Inject: func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
			return func() history.Proof { return history.Proof{Proven: true} }, on.Freeze(ctx, on.Servers()[0])
		}}
	return faults.Fault{Name: "short-mix", Repeats: true, Mix: []faults.Fault{short}}
}

// unanswered is a fault that withholds an answer, on a server that is frozen before it gets the
// request: its host confirms that the packets have arrived, and nobody answers.
func unanswered(name string) faults.Fault {
	f, err := faults.Find(faults.All(), name)
	if err != nil {
		panic(err)
	}
	inject := f.Inject
	f.Name, f.Inject = "unanswered-"+name, func(ctx context.Context, on faults.Strike) (faults.Proof, error) {
		on.Stage = freezing{on.Stage}
		return inject(ctx, on)
	}
	return f
}

type freezing struct{ faults.Stage }

func (f freezing) Drop(ctx context.Context, from, to []faults.Node) (*faults.Drops, error) {
	if err := f.Freeze(ctx, f.Servers()[0]); err != nil {
		return nil, err
	}
	return f.Stage.Drop(ctx, from, to)
}

// judging is the counter with an opinion of its own.
type judging struct{ workloads.Counter }

func (j judging) Info() workloads.Info {
	info := j.Counter.Info()
	info.Name = "judging"
	return info
}

func (judging) Judge(ix *history.Index, _ history.Plan) checker.Layer {
	return checker.Layer{Verdict: checker.Invalid, Count: 1, Findings: []checker.Finding{{
		Sentence: fmt.Sprintf("all %d accesses were in vain", len(ix.Accesses)), At: ix.Last}}}
}

// do runs one cell in the local lab.
func do(t *testing.T, algorithm, fault, workload string, change func(*history.Plan)) (checker.Result, *history.Index, error) {
	t.Helper()
	return doIn(t, t.TempDir()+"/run", algorithm, fault, workload, change)
}

// doIn is [do] with the run's directory.
func doIn(t *testing.T, dir, algorithm, fault, workload string, change func(*history.Plan)) (checker.Result, *history.Index, error) {
	t.Helper()
	c := things()
	driver, err := c.Lab("local", "")
	if err != nil {
		t.Fatal(err)
	}
	impl, err := c.Lock(algorithm)
	if err != nil {
		t.Fatal(err)
	}
	topology, err := c.Topology(impl.Info().Topologies[0])
	if err != nil {
		t.Fatal(err)
	}
	testkit.Need(t, "the local lab with "+topology.Name, driver.Ready(t.Context(), []lab.Kind{topology.Kind}))
	f, err := c.Fault(fault)
	if err != nil {
		t.Fatal(err)
	}
	work, err := c.Workload(workload)
	if err != nil {
		t.Fatal(err)
	}
	m := run.Matrix{Catalog: c, Workload: work, Base: history.Plan{Lab: "local", Clients: 4, Processes: 2, Duration: time.Second, Seed: 1}}
	plan := m.For(impl, f, 0)
	if change != nil {
		change(&plan)
	}
	if topology, err = c.Topology(plan.Topology); err != nil {
		t.Fatal(err)
	}
	free, err := testkit.Take(t.Context(), labtest.Places(topology))
	if err != nil {
		t.Fatal(err)
	}
	defer free()
	res, failed := run.Execute(t.Context(), c, dir, plan)
	r, err := rundir.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	ix, err := r.History(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return res, ix, failed
}

// beside is a subtest that runs beside the others.
func beside(t *testing.T, name string, test func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		test(t)
	})
}

const counter, setpx = "counter", "redis-setpx-lua"

// TestStruckWhenItBegan: a fault is in force from its first act, not from the end of
// its injection.
func TestStruckWhenItBegan(t *testing.T) {
	t.Parallel()
	_, ix, err := do(t, setpx, "slow-injection", counter, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(ix.Faults) != 1 || len(ix.Acts) != 2 {
		t.Fatalf("faults %+v, acts %+v", ix.Faults, ix.Acts)
	}
	f, kill, restart := ix.Faults[0], ix.Acts[0], ix.Acts[1]
	if f.Strike != kill.Begin || kill.Name != "kill" || restart.Name != "restart" || f.Heal.Sub(f.Strike) < 1200*time.Millisecond {
		t.Errorf("struck at %d, healed from %d; acts %+v", f.Strike, f.Heal, ix.Acts)
	}
}

// TestHalfAnInjection is a failure of the bench, whatever the lock did then. What it did
// stands: the server that was killed may have forgotten a grant.
func TestHalfAnInjection(t *testing.T) {
	t.Parallel()
	res, ix, err := do(t, setpx, "half-injection", counter, nil)
	if said := res.Reason + strings.Join(res.Notes, " "); err == nil || !res.Failed || !strings.Contains(said, "the other half went wrong") {
		t.Errorf("%s (%s), %v", res.Outcome, said, err)
	}
	if len(ix.Faults) != 1 || ix.Faults[0].Proven || !strings.Contains(ix.Faults[0].Note, "half way") {
		t.Errorf("recorded %+v", ix.Faults)
	}
}

// TestNobodyCameBy is part of the history. Nobody is doomed by a kill that hit nobody,
// and it is not tried again without a rest.
func TestNobodyCameBy(t *testing.T) {
	t.Parallel()
	res, _, err := do(t, setpx, "nobody", counter, nil)
	if err != nil || res.Outcome != lb.Inconclusive || !strings.Contains(res.Reason, "never struck") {
		t.Errorf("%s (%s), %v", res.Outcome, res.Reason, err)
	}
	_, ix, err := do(t, setpx, "nobody-again", counter, func(p *history.Plan) { p.Duration = 2 * time.Second })
	if err != nil || len(ix.Faults) < 2 || len(ix.Faults) > 8 || ix.Faults[0].Name != "nobody" {
		t.Errorf("%d strikes in 2 s, %v", len(ix.Faults), err)
	}
}

// TestALibraryThatPrints does not disturb what the worker and the runner say.
func TestALibraryThatPrints(t *testing.T) {
	t.Parallel()
	res, _, err := do(t, "noisy", "pause-holder", counter, nil)
	if err != nil || res.Outcome != lb.Check {
		t.Errorf("%s (%s), %v", res.Outcome, res.Reason, err)
	}
}

// TestALockThatPanics ends its run, with the reason, and nothing else.
func TestALockThatPanics(t *testing.T) {
	t.Parallel()
	res, _, err := do(t, "panics", "none", counter, nil)
	if err == nil || res.Outcome != lb.Inconclusive {
		t.Errorf("%s (%s), %v", res.Outcome, res.Reason, err)
	}
}

// TestFailedWork proves nothing.
func TestFailedWork(t *testing.T) {
	t.Parallel()
	res, _, err := do(t, setpx, "none", "failing", nil)
	if err != nil || res.Outcome != lb.Inconclusive || !strings.Contains(res.Reason, "the disk of the work is full") {
		t.Errorf("%s (%s), %v", res.Outcome, res.Reason, err)
	}
}

// TestARunGoesOn until it has shown enough.
func TestARunGoesOn(t *testing.T) {
	t.Parallel()
	res, _, err := do(t, setpx, "none", counter, func(p *history.Plan) { p.Duration = 50 * time.Millisecond })
	if err != nil || res.Outcome != lb.Safe || res.Sections < 30 {
		t.Errorf("%s (%s) after %d sections, %v", res.Outcome, res.Reason, res.Sections, err)
	}
}

// TestFirst ends a run at the first violation, an overstay that lost updates, too, and
// is as sure of what it saw as a run that goes on.
func TestFirst(t *testing.T) {
	t.Parallel()
	for fault, want := range map[string]lb.Outcome{"pause@before-write": lb.Broken, "cut-holder": lb.Check} {
		beside(t, fault, func(t *testing.T) {
			res, ix, err := do(t, setpx, fault, counter, func(p *history.Plan) { p.First, p.Duration = true, 30*time.Second })
			if took := ix.Last.Sub(ix.Start); err != nil || res.Outcome != want || took > 15*time.Second {
				t.Errorf("%s (%s) after %v, %v", res.Outcome, res.Reason, took, err)
			}
		})
	}
}

// TestNobodySaw what a fault did, where all clients live in the process that it killed or
// froze: that nobody was hurt proves nothing. Let go, another may be granted the lock
// before the late holder has come to its write: that harm is real, and told.
func TestNobodySaw(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"kill-holder", "pause-holder"} {
		beside(t, fault, func(t *testing.T) {
			res, _, err := do(t, setpx, fault, counter, func(p *history.Plan) { p.Processes = 1 })
			late := fault == "pause-holder" && res.Outcome == lb.Check && strings.HasPrefix(res.Reason, lb.Overstay)
			if err != nil || res.Outcome != lb.Inconclusive && !late {
				t.Errorf("%s (%s), %v", res.Outcome, res.Reason, err)
			}
		})
	}
}

// TestClientClock: what moves is what every library in the process reads, and it is put
// right again. A correct lock does not mind, and its holder is not held.
func TestClientClock(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"client-clock", "client-clock:back", "client-clock:fast", "client-clock:ahead-from-start", "client-clock:behind-from-start"} {
		beside(t, fault, func(t *testing.T) {
			res, ix, err := do(t, setpx, fault, counter, nil)
			if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven {
				t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
			if len(ix.Steps) > 0 {
				t.Errorf("it stopped a client: %+v", ix.Steps)
			}
		})
	}
}

// TestReplyOfTheGrant: what is lost or late is the answer to the request that took the
// lock, and the victim hears nothing before the fault is healed, or late.
func TestReplyOfTheGrant(t *testing.T) {
	t.Parallel()
	for fault, late := range map[string]bool{"lost-grant": false, "late-grant": true} {
		for seed := range uint64(3) {
			beside(t, fmt.Sprint(fault, seed), func(t *testing.T) {
				res, ix, err := do(t, setpx, fault, counter, func(p *history.Plan) { p.Seed = 10 + seed })
				if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven || !strings.Contains(res.Effect.Measured, "it was granted") {
					t.Fatalf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
				}
				step := struck(t, ix)
				victim := ix.Acqs[step.Acq]
				if step.Name != "before-set" || victim.Granted() && !late {
					t.Errorf("%+v at %s", victim, step.Name)
				}
				wentOn(t, ix, victim.Client)
			})
		}
	}
}

// TestNobodyAnswered: where the server gave no answer, none was lost.
func TestNobodyAnswered(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"unanswered-lost-grant", "unanswered-lose-reply"} {
		beside(t, fault, func(t *testing.T) {
			res, _, err := do(t, setpx, fault, counter, nil)
			if err != nil || res.Outcome != lb.Inconclusive || res.Effect.Proven {
				t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
		})
	}
}

// TestMovesOfClocks do not add up.
func TestMovesOfClocks(t *testing.T) {
	t.Parallel()
	res, _, err := do(t, setpx, "two-moves", counter, nil)
	if err != nil || !res.Effect.Proven {
		t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
	}
}

// TestLengthInAMix is the fault's own.
func TestLengthInAMix(t *testing.T) {
	t.Parallel()
	_, ix, err := do(t, setpx, "short-mix", counter, func(p *history.Plan) { p.Duration = 2 * time.Second })
	if err != nil || len(ix.Faults) < 2 {
		t.Fatalf("%d strikes, %v", len(ix.Faults), err)
	}
	for _, f := range ix.Faults {
		if f.Heal.Sub(f.Strike) > 500*time.Millisecond {
			t.Errorf("%s was in force for %v", f.Name, f.Heal.Sub(f.Strike))
		}
	}
}

// TestJudgeOfAWorkload is heard.
func TestJudgeOfAWorkload(t *testing.T) {
	t.Parallel()
	res, _, err := do(t, setpx, "none", "judging", nil)
	if err != nil || res.Outcome != lb.Broken || !strings.Contains(res.Reason, "accesses were in vain") {
		t.Errorf("%s (%s), %v", res.Outcome, res.Reason, err)
	}
}

// TestPauseClient freezes no holder beside who is about to ask.
func TestPauseClient(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		beside(t, fmt.Sprint(seed), func(t *testing.T) {
			res, _, err := do(t, setpx, "pause-client", counter, func(p *history.Plan) { p.Seed = 20 + seed })
			if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven {
				t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
		})
	}
}

// TestReplyAtAStep: the answer to the release is lost, and nobody else's; the client waits
// for it, and gives the lock back again.
func TestReplyAtAStep(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"lose-reply", "lose-reply@before-compare-and-delete", "slow-reply@before-compare-and-delete"} {
		beside(t, fault, func(t *testing.T) {
			res, ix, err := do(t, setpx, fault, counter, nil)
			if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven || !strings.Contains(res.Effect.Measured, "did not arrive") {
				t.Fatalf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
			victim := ix.Acqs[ix.Steps[0].Acq]
			if !victim.Granted() {
				t.Errorf("%+v is no holder", victim)
			}
			wentOn(t, ix, victim.Client)
		})
	}
}

// TestAnswerIsNoPacket: who waits in the server has no answer yet, whatever else comes from there. Where a
// neighbour holds the lock, which is kept from giving it back, there is none.
func TestAnswerIsNoPacket(t *testing.T) {
	t.Parallel()
	for algorithm, request := range map[string][2]string{"etcd-v3lock": {"lock", "lock"}, "mysql-forupdate": {"select-for-update", "select"}} {
		for processes := 1; processes <= 4; processes += 3 {
			beside(t, fmt.Sprint(algorithm, " in ", processes), func(t *testing.T) {
				res, ix, err := do(t, algorithm, "lose-reply@before-"+request[0], counter, func(p *history.Plan) { p.Processes = processes })
				answered := strings.Contains(res.Effect.Measured, " on ("+request[1]+"), ")
				if err != nil || res.Effect.Proven != answered || !answered && !strings.Contains(res.Effect.Measured, "did not answer it") || processes == 4 && !answered {
					t.Fatalf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
				}
				// It was lost: the client was told nothing while the fault was in force.
				if victim := ix.Acqs[ix.Steps[0].Acq]; victim.Return < ix.Faults[0].Heal && victim.Granted() {
					t.Errorf("%+v was granted before %d", victim, ix.Faults[0].Heal)
				}
			})
		}
	}
}

// TestReset: the client learns at once that it does not know, and asks again.
func TestReset(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"reset-grant", "reset-reply", "reset-reply@before-compare-and-delete"} {
		beside(t, fault, func(t *testing.T) {
			res, ix, err := do(t, setpx, fault, counter, nil)
			if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven || !strings.Contains(res.Effect.Measured, "was lost with its connection") {
				t.Fatalf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
			victim := &ix.Acqs[struck(t, ix).Acq]
			told, answer := victim.Return, victim.Result
			if fault != "reset-grant" {
				for first := range ix.Releases(victim) {
					told, answer = first.Return, first.Result
					break
				}
			}
			if answer != lb.AnswerUnknown || told > ix.Faults[0].Heal {
				t.Errorf("it was told %v at %d, and the fault was healed from %d", answer, told, ix.Faults[0].Heal)
			}
			wentOn(t, ix, victim.Client)
		})
	}
	// What is sent again without a look at whose it is hurts somebody else: each caller comes back, or does not.
	beside(t, "of who insists", func(t *testing.T) {
		if res, _, err := do(t, "redis-setpx-del", "reset-reply,reset-reply,reset-reply,reset-reply", counter, nil); err != nil || res.Outcome != lb.Broken || res.Mechanism != lb.DoubleGrant && res.Mechanism != lb.VanishedGrant {
			t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
		}
	})
}

// TestEntered: a client is struck within its call, before anything has left.
func TestEntered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		algorithm, fault string
		want             lb.Outcome
	}{
		{setpx, "pause@acquiring", lb.Safe}, {setpx, "pause@releasing", lb.Safe},
		{"redis-setpx-del", "pause@releasing", lb.Broken}, // its late DEL frees the lock of another
	} {
		beside(t, c.algorithm+" under "+c.fault, func(t *testing.T) {
			// One client in each process: nobody else's work is frozen with it.
			res, ix, err := do(t, c.algorithm, c.fault, counter, func(p *history.Plan) { p.Processes = p.Clients })
			if err != nil || res.Outcome != c.want || !res.Effect.Proven || len(ix.Steps) == 0 {
				t.Fatalf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
			at, victim := ix.Steps[0].At, &ix.Acqs[ix.Steps[0].Acq]
			call, ret := victim.Call, victim.Return
			if strings.HasSuffix(c.fault, lb.StepReleasing) {
				for first := range ix.Releases(victim) {
					call, ret = first.Call, first.Return
					break
				}
			}
			if at < call || at > ret || ret.Sub(at) < 2*time.Second {
				t.Errorf("called at %d, struck at %d, told at %d", call, at, ret)
			}
		})
	}
}

// TestCutIsWhatFell: packets prove a cut if they said something while its victim stood there. Where
// nobody did, it was a delay, and what the victim says when it was let go does not change that.
func TestCutIsWhatFell(t *testing.T) {
	t.Parallel()
	for clients, want := range map[int]string{4: "did not arrive meanwhile", 2: "a delay, and no cut"} {
		beside(t, want, func(t *testing.T) {
			res, _, err := do(t, setpx, "cut-holder", counter, func(p *history.Plan) { p.Clients, p.Processes = clients, 2 })
			if err != nil || !strings.Contains(res.Effect.Measured, want) || res.Effect.Proven != (clients == 4) {
				t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
		})
	}
}

// TestCutOneWay: what the host of the victim said while it stood there proves it, and no answer to that.
func TestCutOneWay(t *testing.T) {
	t.Parallel()
	for clients, want := range map[int]string{4: "from w", 2: "a delay, and no cut"} {
		beside(t, fmt.Sprint(clients), func(t *testing.T) {
			res, _, err := do(t, setpx, "one-way-cut", counter, func(p *history.Plan) { p.Clients, p.Processes = clients, 2 })
			if err != nil || !strings.Contains(res.Effect.Measured, want) || res.Effect.Proven != (clients == 4) || res.Effect.Proven && !strings.HasSuffix(res.Effect.Measured, "nothing the other way") {
				t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
		})
	}
}

// TestBeforeARenewal: a holder that works for longer than its lease comes to its renewal among others, too, and is
// frozen there until its lease is over; it learns of it, but has no token.
func TestBeforeARenewal(t *testing.T) {
	t.Parallel()
	res, ix, err := do(t, "redis-watchdog", "pause@before-renew", counter, nil)
	if err != nil || !res.Effect.Proven || len(ix.Steps) == 0 || ix.Steps[0].Name != "before-renew" {
		t.Fatalf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
	}
	if victim := ix.Acqs[ix.Steps[0].Acq]; !victim.Granted() || ix.LeaseEnd(&victim) > ix.Faults[0].Healed {
		t.Errorf("its lease ended at %d, and the fault was healed at %d", ix.LeaseEnd(&victim), ix.Faults[0].Healed)
	}
}

// TestDiskHasRoom: that there is room again is recorded when there is, and not when it is known what
// became of the server.
func TestDiskHasRoom(t *testing.T) {
	t.Parallel()
	_, ix, err := do(t, "etcd-lease", "disk-full", counter, nil)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(ix.Acts, func(a history.Act) bool { return a.Name == "fill disk" })
	if i < 0 {
		t.Fatalf("no disk was full: %+v", ix.Acts)
	}
	next := ix.Faults[0].Healed // unless the server is started again before
	for _, a := range ix.Acts {
		if a.Begin > ix.Acts[i].End {
			next = min(next, a.Begin)
		}
	}
	if waited := next.Sub(ix.Acts[i].End); waited < 500*time.Millisecond {
		t.Errorf("it is over %v before whatever comes next", waited)
	}
}

// TestExpire: the sessions are over on the real server, and others get the lock under its
// holder; who waits goes on with another session. Locks of which none ends with a session say so.
func TestExpire(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"zk-sequential", "etcd-lease", "mysql-getlock"} {
		for _, fault := range []string{"expire-waiter", "expire-holder", "expire-all", "expire@before-write"} {
			beside(t, algorithm+" under "+fault, func(t *testing.T) {
				res, ix, err := do(t, algorithm, fault, counter, nil)
				if err != nil || !res.Effect.Proven || !strings.Contains(res.Effect.Measured, "ended") {
					t.Fatalf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
				}
				holder := ix.Acqs[ix.Steps[0].Acq]
				spared, mayBe := fault == "expire-waiter", fault == "expire-all" // the others need sessions, too, before they get the lock
				if spared != (res.Outcome == lb.Safe) && !mayBe || spared && holder.Lost != history.Forever {
					t.Errorf("%s (%s), %+v", res.Outcome, res.Reason, holder)
				}
			})
		}
	}
	beside(t, "of who is in line already", func(t *testing.T) {
		res, ix, err := do(t, "zk-sequential", "expire@after-create", counter, nil)
		if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven || len(ix.Steps) == 0 {
			t.Fatalf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
		}
		if victim := ix.Acqs[ix.Steps[0].Acq]; victim.Granted() {
			t.Errorf("%+v was granted by a node that went with its session", victim)
		}
	})
	f, err := things().Fault("expire-holder")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Available(faults.Setting{Lab: lab.Local(), Topology: lab.Topology{Servers: 1}, Algorithm: redis.SetPXLua().Info()}); err == nil || !strings.Contains(err.Error(), "end with no session") {
		t.Errorf("available where there are no sessions: %v", err)
	}
}

// TestGoesOn: a client whose host is cut off, or whose server dies, at a step goes on. What proves a
// bad link is that somebody had to say something again.
func TestGoesOn(t *testing.T) {
	t.Parallel()
	const again = "and it went on; "
	for fault, told := range map[string]string{"cut-rejoin": again, "cut-rejoin/0.5ttl": again, "lossy-link": again, "flapping-link": again,
		"kill-server@before-compare-and-delete": "it went on"} {
		beside(t, fault, func(t *testing.T) {
			res, ix, err := do(t, setpx, fault, counter, nil)
			if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven || !strings.Contains(res.Effect.Measured, told) || told == again && !strings.HasSuffix(res.Effect.Measured, " had to be sent again") {
				t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
			if f := ix.Faults[0]; f.Heal.Sub(f.Strike) < 500*time.Millisecond {
				t.Errorf("it was in force for %v", f.Heal.Sub(f.Strike))
			}
		})
	}
}

// TestCutHalves: that servers on both sides miss each other proves nothing; that a client had to say something again, or could
// not connect, does.
func TestCutHalves(t *testing.T) {
	t.Parallel()
	res, _, err := do(t, "zk-sequential", "cut-halves", counter, func(p *history.Plan) { p.Topology = "zookeeper-3" })
	if err != nil || !res.Effect.Proven || !strings.HasSuffix(res.Effect.Measured, " had to be sent again") {
		t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
	}
}

// TestClientsAsPeopleWriteThem: who releases twice is recorded twice; another life, or a
// twin, works on under names of its own; and whoever shares a session asks in it.
func TestClientsAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for fault, shows := range map[string]func(*history.Index) bool{
		"release-twice": func(ix *history.Index) bool {
			return slices.ContainsFunc(ix.Acqs, func(a history.Acquisition) bool {
				n := 0
				for range ix.Releases(&a) {
					n++
				}
				return n == 2
			})
		},
		"restart-holder": again, "twin-holder": again,
		"shared-session": func(*history.Index) bool { return true },
	} {
		beside(t, fault, func(t *testing.T) {
			res, ix, err := do(t, setpx, fault, counter, nil)
			if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven || !shows(ix) {
				t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
			}
		})
	}
}

// TestStrikesWhoLeadsNow: a primary that was replaced, and has come back, is not struck in the
// place of the one that clients use.
func TestStrikesWhoLeadsNow(t *testing.T) {
	t.Parallel()
	_, ix, err := do(t, "mysql-getlock", "failover,kill-server", counter, func(p *history.Plan) { p.Topology = "mariadb-replica" })
	if err != nil {
		t.Fatal(err)
	}
	var killed []string
	for _, a := range ix.Acts {
		if a.Name == "kill" {
			killed = append(killed, a.Fault+" "+a.Target)
		}
	}
	if want := []string{"failover mariadb-replica1", "kill-server mariadb-replica2"}; !slices.Equal(killed, want) {
		t.Errorf("killed %q, want %q", killed, want)
	}
}

// TestTwinSharesItsHost: what keeps a host from asking keeps all processes there.
func TestTwinSharesItsHost(t *testing.T) {
	t.Parallel()
	res, ix, err := do(t, setpx, "twin-holder,lose-reply", counter, func(p *history.Plan) { p.Clients, p.Processes = 4, 1 })
	if err != nil || res.Outcome != lb.Safe || !res.Effect.Proven {
		t.Errorf("%s (%s; %s), %v", res.Outcome, res.Reason, res.Effect.Measured, err)
	}
	for _, process := range []string{"w1", "w1-2"} {
		if !slices.ContainsFunc(ix.Acts, func(a history.Act) bool {
			return a.Name == "hold" && strings.HasPrefix(a.Target, "all of "+process+" but ")
		}) {
			t.Errorf("%s was not held: %+v", process, ix.Acts)
		}
	}
}

// wentOn holds a run against this: whoever was held beside the victim asks for the lock after that.
func wentOn(t *testing.T, ix *history.Index, victim int32) {
	t.Helper()
	i := slices.IndexFunc(ix.Acts, func(a history.Act) bool { return a.Name == "hold" })
	if i < 0 {
		t.Fatalf("nobody was held: %+v", ix.Acts)
	}
	for c, client := range ix.Clients {
		if int32(c) != victim && !slices.ContainsFunc(ix.Acqs, func(a history.Acquisition) bool {
			return a.Client == int32(c) && a.Asked && a.Call > ix.Acts[i].End
		}) {
			t.Errorf("%s does not ask after %+v", client.Name, ix.Acts[i])
		}
	}
}

// struck is where the client was stopped that the fault struck, and not held beside it.
func struck(t *testing.T, ix *history.Index) (last history.Step) {
	t.Helper()
	for _, a := range ix.Acts {
		for _, s := range ix.Steps {
			if a.Name == string(faults.Delay) && ix.Clients[s.Client].Name == a.Target && s.At == a.Begin {
				return s
			}
		}
	}
	t.Fatalf("nobody was struck: %+v, %+v", ix.Acts, ix.Steps)
	return last
}

// again reports whether a second life of a process was granted the lock.
func again(ix *history.Index) bool {
	return slices.ContainsFunc(ix.Acqs, func(a history.Acquisition) bool {
		return a.Granted() && strings.Contains(ix.ClientName(&a), "-2.")
	})
}
