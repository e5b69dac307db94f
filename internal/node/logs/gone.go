package logs

// GoneError says why a log was removed.
type GoneError string

func (e GoneError) Error() string { return string(e) }
