package scenario_test

func (s *scene) judge() {}
