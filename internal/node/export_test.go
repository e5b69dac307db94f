package node

import "time"

// Now is the time that the node decides by.
func Now() time.Time { return now() }

// These set times of a node for tests, as a slow machine may exceed the defaults.

func (c *Config) MeasureEvery(d time.Duration)    { c.times.measureEvery = d }
func (c *Config) ReportAfter(d time.Duration)     { c.times.reportAfter = d }
func (c *Config) StopTimeout(d time.Duration)     { c.times.stopTimeout = d }
func (c *Config) CheckDiskEvery(d time.Duration)  { c.times.checkDiskEvery = d }
func (c *Config) LogRemovalDelay(d time.Duration) { c.times.logRemovalDelay = d }
