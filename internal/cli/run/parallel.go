package run

import (
	"errors"
	"sync"
)

// requests bounds the concurrent requests.
const requests = 16

// inParallel calls do for 0 … n-1 and joins the errors, in this order.
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
