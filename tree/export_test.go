package tree

// Valid checks the invariants of Cohort.
func (c *Cohort) Valid() error { return c.valid() }
