package results_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/results"
)

// anyText is text as it may come from a node, UTF-8 or not.
func anyText(t *rapid.T, name string) string {
	switch rapid.IntRange(0, 2).Draw(t, "sort of "+name) {
	case 0:
		return string(rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, name))
	case 1:
		return strings.Repeat(rapid.String().Draw(t, name), rapid.IntRange(0, 200).Draw(t, "times"))
	}
	return rapid.String().Draw(t, name)
}

func TestASliceStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := results.Limits{
			Entries:  rapid.IntRange(1, 8).Draw(t, "entries"),
			Message:  rapid.IntRange(0, 50).Draw(t, "message"),
			Messages: rapid.IntRange(0, 200).Draw(t, "messages"),
		}
		slice := &stintv1.ResultSlice{}
		for range rapid.IntRange(1, 5).Draw(t, "batches") {
			var batch []stintv1.PodResult
			for _, uid := range rapid.SliceOfNDistinct(rapid.IntRange(0, 12), 0, 10, rapid.ID).Draw(t, "uids") {
				batch = append(batch, stintv1.PodResult{
					Pod: "p", UID: types.UID(fmt.Sprint(uid)),
					Phase:   rapid.SampledFrom([]corev1.PodPhase{corev1.PodRunning, corev1.PodSucceeded, corev1.PodFailed}).Draw(t, "phase"),
					Message: anyText(t, "message"), Reason: anyText(t, "reason"),
				})
			}
			before := slices.Clone(slice.Results)
			rest := results.Append(slice, batch, limits)
			checkBounds(t, slice, limits)
			checkAppended(t, before, batch, slice.Results, rest)
		}
	})
}

func checkBounds(t *rapid.T, slice *stintv1.ResultSlice, limits results.Limits) {
	total := 0
	seen := map[types.UID]bool{}
	for _, r := range slice.Results {
		if seen[r.UID] {
			t.Fatalf("pod %s is there twice", r.UID)
		}
		seen[r.UID] = true
		total += len(r.Message)
		if len(r.Message) > limits.Message || !utf8.ValidString(r.Message) {
			t.Fatalf("message of %d bytes, UTF-8 %v", len(r.Message), utf8.ValidString(r.Message))
		}
		if len(r.Reason) > stintv1.MaxResultName || !utf8.ValidString(r.Reason) {
			t.Fatalf("reason of %d bytes", len(r.Reason))
		}
	}
	if len(slice.Results) > limits.Entries || total > limits.Messages {
		t.Fatalf("%d results with messages of %d bytes", len(slice.Results), total)
	}
}

// checkAppended expects each result of a batch to be either in the slice or left over, and the results that were in the
// slice to be in it still.
func checkAppended(t *rapid.T, before, batch, after, rest []stintv1.PodResult) {
	uids := func(all []stintv1.PodResult) (out []types.UID) {
		for _, r := range all {
			out = append(out, r.UID)
		}
		return out
	}
	held, left := uids(after), uids(rest)
	if !slices.Equal(held[:len(before)], uids(before)) {
		t.Fatalf("%v became %v", uids(before), held)
	}
	for i, r := range after[:len(before)] {
		if was := before[i].Phase; was != corev1.PodRunning && r.Phase == corev1.PodRunning {
			t.Fatalf("pod %s was %s and runs", r.UID, was)
		}
	}
	for _, r := range batch {
		if slices.Contains(held, r.UID) == slices.Contains(left, r.UID) {
			t.Fatalf("pod %s: in the slice %v, left over %v", r.UID, slices.Contains(held, r.UID), slices.Contains(left, r.UID))
		}
	}
	if len(batch) > 0 && len(after) == 0 {
		t.Fatal("an empty slice has no place for one")
	}
}

func TestAMessageIsWholeInTheNextSliceWhereThisOneHasNoRoom(t *testing.T) {
	limits := results.Limits{Entries: 10, Message: 10, Messages: 15}
	slice := &stintv1.ResultSlice{}
	rest := results.Append(slice, []stintv1.PodResult{
		{Pod: "a", UID: "a", Message: "0123456789"}, {Pod: "b", UID: "b", Message: "abcdefghij"}, {Pod: "c", UID: "c"},
	}, limits)
	if len(slice.Results) != 2 || slice.Results[1].Pod != "c" || len(rest) != 1 || rest[0].Message != "abcdefghij" {
		t.Errorf("the slice has %v, and left over are %v", slice.Results, rest)
	}
}

func TestALaterMessageTakesTheRoomOfTheEarlierOne(t *testing.T) {
	limits := results.Limits{Entries: 10, Message: 10, Messages: 10}
	slice := &stintv1.ResultSlice{}
	results.Append(slice, []stintv1.PodResult{{Pod: "a", UID: "a", Phase: corev1.PodRunning, Message: "0123456789"}}, limits)
	results.Append(slice, []stintv1.PodResult{{Pod: "a", UID: "a", Phase: corev1.PodFailed, Message: "abcdefghij"}}, limits)
	if got := slice.Results[0].Message; got != "abcdefghij" {
		t.Errorf("the message is %q", got)
	}
}

func TestALongMessageKeepsBothEnds(t *testing.T) {
	slice := &stintv1.ResultSlice{}
	message := "failed: " + strings.Repeat("é", 1000) + " exit"
	results.Append(slice, []stintv1.PodResult{{Pod: "p", UID: "u", Message: message}}, results.Limits{Entries: 1, Message: 40, Messages: 40})
	got := slice.Results[0].Message
	if !strings.HasPrefix(got, "failed: é") || !strings.HasSuffix(got, "é exit") || strings.Count(got, "…") != 1 {
		t.Errorf("cut to %q", got)
	}
}
