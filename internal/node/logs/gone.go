package logs

// GoneError is why a log is not there any more.
type GoneError string

func (e GoneError) Error() string { return string(e) }
