// Command wild runs the Job and CronJob manifests of a directory, as people have written them, and reports how far each
// gets. The images that they name are not to be had, so each gets a stand-in under its own name: an image with a user, an
// environment, a working directory and an entrypoint of its own, in which every command that a manifest names is a program
// that writes down how it was started. That is held against what the manifest says.
//
//	go run ./test/wild -manifests DIR -stint bin/stint
//
// With -shell, scripts run: shells and what belongs to them are those of busybox and bash (Debian: busybox-static, bash-static), and only the other programs that scripts
// name are stand-ins. Then only the end of the Job counts.
//
// What a manifest takes for granted is made: its namespace, its service accounts, and the ConfigMaps and Secrets that it
// does not define. Changed is only what has nothing to do with containers: digests of images are left out, schedules are
// run once by hand, suspended Jobs are resumed, finished ones are kept, and requests are cut to what the machine has.
package main
