package simulated

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Server is what the tables of one API server have in common.
type Server struct {
	version int
	made    int
	tables  int
}

// NewServer is a server without tables.
func NewServer() *Server { return &Server{version: 1} }

// Version is that of the newest write.
func (s *Server) Version() int { return s.version }

func (s *Server) uid(kind string) types.UID {
	s.made++
	return types.UID(kind + "-" + strconv.Itoa(s.made))
}

// Now is in whole seconds, as all times in the API are.
func Now() metav1.Time { return metav1.NewTime(time.Now().Truncate(time.Second)) }
