package node

import "time"

// The times of a node that tests change, since a machine may stand still for longer.

func (c *Config) MeasureEvery(d time.Duration) { c.times.measureEvery = d }
func (c *Config) ReportAfter(d time.Duration)  { c.times.reportAfter = d }
func (c *Config) LeaveWithin(d time.Duration)  { c.times.leaveWithin = d }
func (c *Config) LookAtDisk(d time.Duration)   { c.times.lookAtDisk = d }
func (c *Config) LogsLinger(d time.Duration)   { c.times.logRemovalDelay = d }
