package store

const (
	// slackBytes is the size below which neither history nor free space is worth work.
	slackBytes = 32 << 20

	// Ages are counted in steps, of which there is at most one a second. So a process that was stopped for a while does
	// not take what it has just written for old.

	// keptSteps is the age up to which history is kept if there is little of it.
	keptSteps = 60
	// minKeptSteps is the age up to which history is always kept. Readers need it: etcd's watches lag by milliseconds, the
	// next page of a list is asked for within seconds.
	minKeptSteps = 15
	// quietRevisions is the greatest number of revisions in the history of a store that counts as quiet.
	quietRevisions = 1000
	// patientSteps is how long a store that is never quiet waits for its defragmentation.
	patientSteps = 600
)

// usage is what a step sees of the database.
type usage struct {
	// revision is the newest one.
	revision int64
	// file is the size of the file, used that of its pages with content. Free pages are written again before the file grows.
	file, used int64
	// full means that no objects can be created: see quota.
	full bool
	// cramped means that the disk has no room for a copy of the database.
	cramped bool
}

// plan is what a step does.
type plan struct {
	// commit makes etcd commit. Pages that are freed count as used until the next two commits, which are far away if nothing
	// is written, and in a full store little can be.
	commit bool
	// compactTo is the revision whose history is dropped; 0 is none.
	compactTo  int64
	defragment bool
}

// upkeep decides when the history of the database is dropped, and when its file is made smaller.
//
//	history                            is dropped when                                    and is kept for
//	more than live data                what is minKeptSteps old is more than slackBytes   minKeptSteps
//	of a full store                    minKeptSteps after the last time                   minKeptSteps
//	any                                keptSteps after the last time                      keptSteps
//
//	file                               is made smaller when
//	more than twice its used part      it is more than slackBytes, the disk has room for a copy, and the store is quiet, or patientSteps later
//
// A defragmentation blocks all writes while it copies the used part (about 5 ms/MB), and the history is part of it.
type upkeep struct {
	// newest has the newest revision at each of the last steps, the last one at the end.
	newest []int64
	// compacted is the revision of the last compaction, steps is its age.
	compacted int64
	steps     int
	// left is the size of the history that the last compaction had to leave. live is the least used part since then, without
	// left: etcd drops history in the background. Both are estimates, as if all revisions had the same size.
	left, live int64
	// used is the used part at the last step.
	used int64
	// wasteful is the number of the last steps at which a defragmentation would have paid.
	wasteful int
}

// step decides what to do at one step.
func (u *upkeep) step(now usage) plan {
	u.observe(now)
	removing := now.used < u.used
	p := plan{
		commit:     removing || now.full || u.steps <= 2,
		compactTo:  u.compaction(now),
		defragment: u.defragmentation(now, removing),
	}
	if to := p.compactTo; to > 0 {
		u.left = u.history(now, to, now.revision)
		u.live = now.used - u.left
		u.compacted, u.steps = to, 0
	}
	if p.defragment {
		u.wasteful = 0
	}
	u.used = now.used
	return p
}

func (u *upkeep) observe(now usage) {
	if u.newest == nil {
		u.live = now.used
	}
	u.newest = append(u.newest, now.revision)
	u.newest = u.newest[max(0, len(u.newest)-keptSteps-1):]
	u.steps++
	u.live = min(u.live, max(0, now.used-u.left))
}

// compaction returns the revision to compact to, or 0.
func (u *upkeep) compaction(now usage) int64 {
	to := u.revisionBefore(minKeptSteps)
	grown := u.history(now, u.compacted, to) > max(slackBytes, u.live)
	switch {
	case grown, now.full && u.steps >= minKeptSteps:
	case u.steps >= keptSteps:
		to = u.revisionBefore(keptSteps)
	default:
		return 0
	}
	if to <= u.compacted {
		return 0
	}
	return to
}

// history estimates the size of the history between two revisions.
func (u *upkeep) history(now usage, from, to int64) int64 {
	if to <= from {
		return 0
	}
	return int64(float64(now.used-u.live) * float64(to-from) / float64(now.revision-u.compacted))
}

// revisionBefore returns the newest revision of the given number of steps ago, or 0 if it is not known.
func (u *upkeep) revisionBefore(steps int) int64 {
	if i := len(u.newest) - 1 - steps; i >= 0 {
		return u.newest[i]
	}
	return 0
}

func (u *upkeep) defragmentation(now usage, removing bool) bool {
	if now.file <= slackBytes || now.file <= 2*now.used || now.cramped {
		u.wasteful = 0
		return false
	}
	u.wasteful++
	quiet := now.revision-u.compacted <= quietRevisions && !removing
	return quiet || u.wasteful >= patientSteps
}
