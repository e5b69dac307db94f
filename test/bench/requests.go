package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/client-go/kubernetes"
)

// requestLine is a count of requests in the API server's metrics. Long-lived ones are counted when they end.
var requestLine = regexp.MustCompile(`^apiserver_request_total\{.*resource="(jobs|pods|events)".*verb="([A-Z]+)".*\} (\S+)$`)

// requests returns how many requests for Jobs, pods and events the API server has received, without watches and lists.
func requests(ctx context.Context, set kubernetes.Interface) (sum int64, err error) {
	page, err := set.Discovery().RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the API server's metrics: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(page))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m := requestLine.FindStringSubmatch(lines.Text())
		if m == nil || strings.Contains("WATCH LIST DELETECOLLECTION", m[2]) {
			continue
		}
		n, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return 0, err
		}
		sum += int64(n)
	}
	return sum, lines.Err()
}
