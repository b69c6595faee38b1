// Package kubernetes has the shards of some work done as one Indexed Job of a cluster, and
// brings back what they leave.
//
// A shard is a pod of an image that has this program: it works into a directory, keeps it, and
// waits. Whoever follows the job streams the directory out of the pod, looks whether all of it
// is there, and lets the pod end; only then is the shard done for the cluster. A pod that ends
// before, however it did, is run again from the beginning, and its directory goes with it. So
// nothing half is ever collected, and nothing of ours runs in the cluster beside the shards.
//
// What the work is, what its lines of progress mean, and what a directory must hold, only the
// caller knows.
package kubernetes
