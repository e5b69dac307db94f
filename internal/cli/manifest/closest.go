package manifest

import "strings"

// longestName bounds the work. All fields and kinds of the API are much shorter.
const longestName = 80

// Closest returns the known name that was most likely meant, or "" if none is similar. It ignores case.
func Closest(name string, known []string) string {
	if len(name) > longestName {
		return ""
	}
	best, limit := "", max(1, len(name)/3)
	for _, k := range known {
		if k == name {
			continue
		}
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d <= limit && d < len(name) {
			best, limit = k, d-1
		}
	}
	return best
}

// distance counts the letters to insert, delete, replace or swap with their neighbour to get from a to b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
