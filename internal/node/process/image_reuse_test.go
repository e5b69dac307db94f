package process_test

import (
	"os"
	"testing"

	"github.com/stint-dev/stint/internal/node/runtime"
	"github.com/stint-dev/stint/test/unprivileged"
)

// A root file system that a container has not changed may serve another one. What an accomplice of the container still holds of it must
// show nothing of the other one.
func TestWhatIsHeldOfARootShowsNothingOfALaterContainer(t *testing.T) {
	m := imager(t)
	tree, dir := imageTree(t), t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	shared := []runtime.Mount{{HostPath: dir, ContainerPath: "/home"}}
	const wait = "await() { until [ -e /home/$1 ]; do sleep 0.01; done; }; "
	accomplice := m.sharing(tree, "accomplice", wait+`await pid; exec 9</proc/$(cat /home/pid)/root/etc; touch /home/held
		await written; cat /proc/self/fd/9/secret; touch /home/read`)
	first := m.sharing(tree, "first", wait+"echo $$ > /home/new; mv /home/new /home/pid; await held")
	victim := m.imageContainer(tree, "sh", "-c", wait+"echo word > /etc/secret; touch /home/written; await read")
	for _, c := range []*runtime.Container{&accomplice, &first, &victim} {
		c.Mounts, c.Root.Owner = shared, "default/job"
	}
	m.start(accomplice)
	m.printed(first)
	m.printed(victim)
	m.wait(accomplice.ID)
	if got := m.outputIfAny(accomplice); got != "cat: can't open '/proc/self/fd/9/secret': No such file or directory\n" {
		t.Errorf("the accomplice reads %q", got)
	}
}

func TestRootsWithSubordinateIDs(t *testing.T) {
	unprivileged.WithSubordinateIDs(t, "HeldOfARoot")
}
