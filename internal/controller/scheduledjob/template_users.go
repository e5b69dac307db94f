package scheduledjob

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	stintv1 "github.com/stint-dev/stint/api/stint/v1"
	"github.com/stint-dev/stint/internal/controller/loop"
)

// templateUsers are the ScheduledJobs that refer to a PodTemplate: names has the PodTemplate of each ScheduledJob, users the
// ScheduledJobs of each PodTemplate.
type templateUsers struct {
	mu        sync.Mutex
	templates map[types.NamespacedName]types.NamespacedName
	users     map[types.NamespacedName]map[types.NamespacedName]bool
}

func newTemplateUsers() *templateUsers {
	return &templateUsers{templates: map[types.NamespacedName]types.NamespacedName{},
		users: map[types.NamespacedName]map[types.NamespacedName]bool{}}
}

func (t *templateUsers) add(sj *stintv1.ScheduledJob) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(loop.Key(sj))
	if sj.Spec.TemplateRef == nil {
		return
	}
	template := types.NamespacedName{Namespace: sj.Namespace, Name: sj.Spec.TemplateRef.Name}
	t.templates[loop.Key(sj)] = template
	if t.users[template] == nil {
		t.users[template] = map[types.NamespacedName]bool{}
	}
	t.users[template][loop.Key(sj)] = true
}

func (t *templateUsers) forget(sj *stintv1.ScheduledJob) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.remove(loop.Key(sj))
}

func (t *templateUsers) remove(user types.NamespacedName) {
	template, had := t.templates[user]
	if !had {
		return
	}
	delete(t.templates, user)
	delete(t.users[template], user)
	if len(t.users[template]) == 0 {
		delete(t.users, template)
	}
}

func (t *templateUsers) of(template types.NamespacedName) []types.NamespacedName {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Collect(maps.Keys(t.users[template]))
}
