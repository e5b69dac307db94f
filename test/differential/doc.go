// Package differential sends the same requests to a real kube-apiserver and to Stint's, and wants the same answers: the
// same verdict, the same fields in the error, the same warnings, the same defaulted object.
//
//	testdata/*.yaml ─┐                 ┌─▶ kube-apiserver ─┐
//	corpus in Go    ─┼─▶ dry requests ─┤                   ├─▶ compare ─▶ an intended difference, or a failed test
//	random mixtures ─┘                 └─▶ Stint ──────────┘
//
// Every intended difference is listed with its reason (differences_test.go). The test fails when one no longer exists.
//
//	STINT_CLUSTER=… go test ./test/differential -report differential.txt
package differential
