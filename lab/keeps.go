package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
)

// Keeps is what a server keeps for its clients at this moment: how much of what, by the names that
// its own tools have for it.
type Keeps map[string]int

// Keeps asks the server for it. A kind that can't say keeps nothing.
func (s *Server) Keeps(ctx context.Context) (Keeps, error) {
	if s.kind.Keeps == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, keepsBound)
	defer cancel()
	k, err := s.kind.Keeps(ctx, s.Endpoint())
	if err != nil {
		return nil, fmt.Errorf("lab: ask %s what it keeps: %w", s.Name(), err)
	}
	return k, nil
}

// keepsBound is how long a server may take to say.
const keepsBound = 2 * time.Second

func redisKeeps(ctx context.Context, endpoint string) (k Keeps, err error) {
	err = askRedis(endpoint, keepsBound, func(c *redis.Client) error {
		keys, err := c.DBSize(ctx).Result()
		if err != nil {
			return err
		}
		info, err := c.Info(ctx, "memory").Result()
		if err != nil {
			return err
		}
		scripts, err := numberAfter([]byte(info), "number_of_cached_scripts:", 10)
		k = Keeps{"keys": int(keys), "scripts": int(scripts)}
		return err
	})
	return k, err
}
