package run

import (
	"errors"
	"sync"
)

// requests bounds how many requests are under way at a time.
const requests = 16

// inParallel calls do for 0 … n-1 and joins what goes wrong, in that order.
func inParallel(n int, do func(i int) error) error {
	errs := make([]error, n)
	slots := make(chan struct{}, requests)
	var all sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs[i] = do(i)
		})
	}
	all.Wait()
	return errors.Join(errs...)
}
