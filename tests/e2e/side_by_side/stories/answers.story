Answers that need no configuration.
$ version -json
$ metadata functions -json
$ show -json
$ output -json
$ validate -json
$ providers schema -json
$ modules -json
$ plan -json
$ workspace list
$ state list
