package probe

// Valid checks the invariants of Searches.
func (s *Searches) Valid() error { return s.valid() }
