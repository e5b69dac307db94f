package node

import "time"

// The times of a node that tests change, since a machine may stand still for longer.

func (c *Config) MeasureEvery(d time.Duration)    { c.times.measureEvery = d }
func (c *Config) ReportAfter(d time.Duration)     { c.times.reportAfter = d }
func (c *Config) StopTimeout(d time.Duration)     { c.times.stopTimeout = d }
func (c *Config) CheckDiskEvery(d time.Duration)  { c.times.checkDiskEvery = d }
func (c *Config) LogRemovalDelay(d time.Duration) { c.times.logRemovalDelay = d }
