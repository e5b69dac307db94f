package apiserver

import (
	"context"
	"net/http"

	apifilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/endpoints/filters/impersonation"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/filters"
)

// chain wraps the handler in filters; the last one is the outermost. It is the library's chain without the filters that a
// server for one machine does not need: priority and fairness, audit, tracing, CORS, and the wait for paths of other
// servers.
func (s *Server) chain(handler http.Handler, c *genericapiserver.Config) http.Handler {
	handler = withEmptyRun(handler)
	handler = withCheckedPatches(handler, c.Serializer, c.MaxRequestBodyBytes)
	handler = apifilters.WithAuthorization(handler, c.Authorization.Authorizer, c.Serializer)
	handler = filters.WithMaxInFlightLimit(handler, c.MaxRequestsInFlight, c.MaxMutatingRequestsInFlight, c.LongRunningFunc)
	handler = impersonation.WithImpersonation(handler, c.Authorization.Authorizer, c.Serializer)
	handler = s.withAuthenticatedPeers(handler)
	unauthorized := apifilters.Unauthorized(c.Serializer)
	handler = apifilters.WithAuthentication(handler, c.Authentication.Authenticator, unauthorized, c.Authentication.APIAudiences, nil)
	handler = apifilters.WithWarningRecorder(handler)
	handler = filters.WithTimeoutForNonLongRunningRequests(handler, c.LongRunningFunc)
	handler = apifilters.WithRequestDeadline(handler, nil, nil, c.LongRunningFunc, c.Serializer, c.RequestTimeout)
	handler = filters.WithWaitGroup(handler, c.LongRunningFunc, c.NonLongRunningRequestWaitGroup)
	handler = s.withShutdown(handler, c.LongRunningFunc)
	handler = apifilters.WithCacheControl(handler)
	handler = filters.WithHTTPLogging(handler)
	handler = apifilters.WithLatencyTrackers(handler)
	handler = apifilters.WithRequestInfo(handler, c.RequestInfoResolver)
	handler = apifilters.WithRequestReceivedTimestamp(handler)
	handler = filters.WithPanicRecovery(handler, c.RequestInfoResolver)
	return apifilters.WithAuditInit(handler)
}

// withAuthenticatedPeers marks connections that have sent an authenticated request.
func (s *Server) withAuthenticatedPeers(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if s.connections != nil {
			s.connections.MarkAuthenticated(req.RemoteAddr)
		}
		handler.ServeHTTP(w, req)
	})
}

// withShutdown ends watches and logs when the server stops, because the shutdown waits for them. It aborts the
// connections of logs: after a normal end of the response, clients would take the log for complete.
func (s *Server) withShutdown(handler http.Handler, longRunning apirequest.LongRunningRequestCheck) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		info, ok := apirequest.RequestInfoFrom(req.Context())
		if !ok || !longRunning(req, info) {
			handler.ServeHTTP(w, req)
			return
		}
		ctx, cancel := context.WithCancel(req.Context())
		defer cancel()
		defer context.AfterFunc(s.stopping, cancel)()
		handler.ServeHTTP(w, req.WithContext(ctx))
		if info.Subresource == "log" && s.stopping.Err() != nil {
			panic(http.ErrAbortHandler)
		}
	})
}
