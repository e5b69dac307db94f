package resources

import "cmp"

// class is a heap of the pods that request the same, the oldest on top.
type class []*waiter

func (c class) Len() int           { return len(c) }
func (c class) Less(i, j int) bool { return compare(c[i], c[j]) < 0 }

func (c class) Swap(i, j int) {
	c[i], c[j] = c[j], c[i]
	c[i].index, c[j].index = i, j
}

// Push is for container/heap.
func (c *class) Push(x any) {
	w := x.(*waiter)
	w.index = len(*c)
	*c = append(*c, w)
}

// Pop is for container/heap.
func (c *class) Pop() any {
	last := len(*c) - 1
	w := (*c)[last]
	(*c)[last] = nil
	*c = (*c)[:last]
	return w
}

func compare(a, b *waiter) int {
	if c := a.created.Compare(b.created); c != 0 {
		return c
	}
	return cmp.Compare(a.arrival, b.arrival)
}
