package redis

import "github.com/redis/go-redis/v9"

// crew works on all nodes at the same time, one goroutine a node: the caller on the
// first, and the others on the rest. They are kept from one time to the next, since a
// new goroutine must first make room on its stack for all that the driver calls, and
// that costs as much as a fifth of what it is there for.
type crew struct {
	nodes []*redis.Client
	tasks []chan func(i int, rdb *redis.Client) // of all nodes but the first
	done  chan struct{}
}

func newCrew(nodes []*redis.Client) *crew {
	c := &crew{nodes: nodes, done: make(chan struct{}, len(nodes))}
	for i, rdb := range nodes[1:] {
		tasks := make(chan func(int, *redis.Client), 1)
		c.tasks = append(c.tasks, tasks)
		go func() {
			for task := range tasks {
				task(i+1, rdb)
				c.done <- struct{}{}
			}
		}()
	}
	return c
}

// onAll returns when the task has been done on all nodes.
func (c *crew) onAll(task func(i int, rdb *redis.Client)) {
	for _, tasks := range c.tasks {
		tasks <- task
	}
	task(0, c.nodes[0])
	for range c.tasks {
		<-c.done
	}
}

// dismiss ends the goroutines, once.
func (c *crew) dismiss() {
	for _, tasks := range c.tasks {
		close(tasks)
	}
	c.tasks = nil
}
