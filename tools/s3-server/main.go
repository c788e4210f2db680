// Command s3-server serves a folder as an S3-compatible object store: rclone with the one backend and the one command that
// the tests and measurements of shared backends need.
package main

import (
	_ "github.com/rclone/rclone/backend/local"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/serve/s3"
)

func main() { cmd.Main() }
