package prober

import (
	"context"
	"net"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/node/probe"
)

// grpcCheck asks a server for its health, with the health checking protocol of gRPC.
func (p *Prober) grpcCheck(ctx context.Context, c Container, g *corev1.GRPCAction, timeout time.Duration) Outcome {
	address := net.JoinHostPort(c.PodIP, strconv.Itoa(int(g.Port)))
	conn, err := grpc.NewClient("passthrough:///"+address,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithUserAgent("kube-probe/"+p.version),
		grpc.WithNoProxy(),
		grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) { return p.dial.dial(ctx, "tcp", address) }),
	)
	if err != nil {
		return failed("the gRPC server at %s: %v", address, err)
	}
	defer conn.Close()
	answer, err := grpc_health_v1.NewHealthClient(conn).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: ptr.Deref(g.Service, "")})
	switch code := status.Code(err); {
	case code == codes.Unimplemented:
		return failed("the gRPC server cannot be asked for its health: %s", status.Convert(err).Message())
	case code == codes.DeadlineExceeded:
		return failed("the gRPC server has not answered within %s", timeout)
	case err != nil:
		return failed("the gRPC health check failed: %v", err)
	case answer.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING:
		return failed("the gRPC server says %s", answer.GetStatus())
	}
	return Outcome{Result: probe.Success}
}
