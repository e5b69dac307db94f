package images

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
	"k8s.io/utils/ptr"

	"github.com/stint-dev/stint/internal/beneath"
)

// User is the user that a container runs as.
type User struct {
	UID, GID uint32
	Groups   []uint32
	Home     string
	// Named: the image gives the user by name. As with a kubelet, runAsNonRoot then needs a runAsUser.
	Named bool
}

// maxAccounts bounds how many bytes of an image's account files are read.
const maxAccounts = 1 << 20

// maxFields is how many fields of a line are told apart, one more than a line of /etc/passwd has. maxGroups is how many groups a
// process can have (NGROUPS_MAX).
const (
	maxFields = 8
	maxGroups = 65_536
)

// account is a line of /etc/passwd.
type account struct {
	name     string
	uid, gid uint32
	home     string
}

// maxUsers bounds how many users of an image are cached.
const maxUsers = 100

// userCache holds the users that containers of an image ran as, because hundreds may start in a second. An image does not
// change.
type userCache struct {
	mu    sync.Mutex
	known map[askedIDs]User
}

// askedIDs are the user and the group that a container's spec asks for; none is -1.
type askedIDs struct{ uid, gid int64 }

// User returns the user that the container runs as. Uid and gid are what its spec asks for; nil means the image's.
func (i *Image) User(uid, gid *int64) (User, error) {
	asked := askedIDs{ptr.Deref(uid, -1), ptr.Deref(gid, -1)}
	i.users.mu.Lock()
	defer i.users.mu.Unlock()
	if user, ok := i.users.known[asked]; ok {
		return user, nil
	}
	user, err := i.readUser(uid, gid)
	if err != nil {
		return user, err
	}
	if i.users.known == nil || len(i.users.known) >= maxUsers {
		i.users.known = map[askedIDs]User{}
	}
	i.users.known[asked] = user
	return user, nil
}

// readUser is User from the image's account files.
func (i *Image) readUser(uid, gid *int64) (User, error) {
	accounts, err := i.accounts()
	if err != nil {
		return User{}, err
	}
	who, group, _ := strings.Cut(i.Config.User, ":")
	if uid != nil {
		// The image's group belongs to the image's user.
		who, group = strconv.FormatInt(*uid, 10), ""
	}
	u := User{Home: "/"}
	found, err := u.setAccount(who, accounts)
	if err != nil {
		return u, err
	}
	if group != "" {
		if u.GID, err = i.group(group); err != nil {
			return u, err
		}
	}
	if gid != nil {
		u.GID = uint32(*gid)
	}
	if found != "" {
		u.Groups, err = i.groupsOf(found, u.GID)
	}
	return u, err
}

// setAccount sets u from the account with this name or number, and returns the account's name; empty if a number has no
// account.
func (u *User) setAccount(who string, accounts []account) (name string, err error) {
	if who == "" {
		who = "0"
	}
	id, err := strconv.ParseUint(who, 10, 32)
	isNumber := err == nil && id < math.MaxUint32
	at := slices.IndexFunc(accounts, func(a account) bool {
		return a.name == who || isNumber && a.uid == uint32(id)
	})
	switch {
	case at >= 0:
		a := accounts[at]
		u.UID, u.GID, u.Named = a.uid, a.gid, a.name == who
		if a.home != "" {
			u.Home = a.home
		}
		return a.name, nil
	case isNumber:
		u.UID = uint32(id)
		return "", nil
	}
	return "", fmt.Errorf("the image has no user %q: its /etc/passwd does not name it", who)
}

func (i *Image) accounts() ([]account, error) {
	var all []account
	err := i.lines("etc/passwd", func(fields []string) {
		if len(fields) < 6 {
			return
		}
		uid, err1 := strconv.ParseUint(fields[2], 10, 32)
		gid, err2 := strconv.ParseUint(fields[3], 10, 32)
		if err1 == nil && err2 == nil {
			all = append(all, account{fields[0], uint32(uid), uint32(gid), fields[5]})
		}
	})
	return all, err
}

func (i *Image) group(who string) (uint32, error) {
	if id, err := strconv.ParseUint(who, 10, 32); err == nil {
		return uint32(id), nil
	}
	found, gid := false, uint32(0)
	err := i.lines("etc/group", func(fields []string) {
		if len(fields) < 3 || fields[0] != who || found {
			return
		}
		if id, err := strconv.ParseUint(fields[2], 10, 32); err == nil {
			found, gid = true, uint32(id)
		}
	})
	if err == nil && !found {
		err = fmt.Errorf("the image has no group %q: its /etc/group does not name it", who)
	}
	return gid, err
}

// groupsOf returns the groups that name is a member of, except own.
func (i *Image) groupsOf(name string, own uint32) ([]uint32, error) {
	var groups []uint32
	err := i.lines("etc/group", func(fields []string) {
		if len(fields) < 4 || !hasMember(fields[3], name) || len(groups) == maxGroups {
			return
		}
		if id, err := strconv.ParseUint(fields[2], 10, 32); err == nil && uint32(id) != own {
			groups = append(groups, uint32(id))
		}
	})
	return groups, err
}

// hasMember reports whether name is in a list with commas.
func hasMember(list, name string) bool {
	for member := range strings.SplitSeq(list, ",") {
		if member == name {
			return true
		}
	}
	return false
}

// lines calls do with the fields of each line of an account file of the image. A missing file counts as empty.
func (i *Image) lines(path string, do func(fields []string)) error {
	root, err := os.Open(i.Tree)
	if err != nil {
		return err
	}
	defer root.Close()
	// A FIFO in its place must not block, and a link must not lead out of the image.
	file, err := beneath.OpenInRoot(int(root.Fd()), path, unix.O_RDONLY|unix.O_NONBLOCK)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read /%s of the image: %w", path, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("/%s of the image is not a regular file", path)
	}
	text := bufio.NewScanner(io.LimitReader(file, maxAccounts))
	text.Buffer(nil, maxAccounts)
	for text.Scan() {
		do(strings.SplitN(strings.TrimSpace(text.Text()), ":", maxFields))
	}
	return text.Err()
}
