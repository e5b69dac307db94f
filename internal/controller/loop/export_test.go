package loop

// Size returns how many parents and children are cached.
func (c *Children[T]) Size() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.childrenByParent) + len(c.parents)
}
