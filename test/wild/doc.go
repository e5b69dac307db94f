// Command wild runs the Job and CronJob manifests of a directory, as people have written them, and reports how far each
// gets. The images that they name are not available, so each is replaced by a stand-in of the same name: an image with a
// user, an environment, a working directory and an entrypoint of its own, in which every command that a manifest names is
// a program that reports how it was started. The report is compared with the manifest.
//
//	go run ./test/wild -manifests DIR -stint bin/stint
//
// With -shell, scripts run: shells and what belongs to them are those of busybox and bash (Debian: busybox-static,
// bash-static), and only the other programs that scripts name are stand-ins. Then only the end of the Job counts.
//
// What a manifest expects to exist is created: its namespace, its service accounts, and the ConfigMaps, Secrets and claims that
// it does not define. Claims that it defines get local volumes, whatever their class is. Only what has nothing to do with containers is changed: digests of images are left out, schedules are
// run once by hand, suspended Jobs are resumed, finished ones are kept, and requests are cut to what the machine has.
package main
