A state that was changed by hand: unknown keys, a tainted object, an orphan of a module that is gone.
== main.tf
resource "terraform_data" "a" { input = 1 }
output "o" { value = terraform_data.a.output }
== terraform.tfstate
{"version":4,"terraform_version":"1.11.4","serial":3,"lineage":"7ab2bb2c-0a8c-4b63-9d1b-000000000000","outputs":{"o":{"value":5,"type":"number"},"gone":{"value":["a"],"type":["tuple",["string"]],"sensitive":true}},"resources":[
{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":"i1","input":{"value":5,"type":"number"},"output":{"value":5,"type":"number"},"triggers_replace":null},"sensitive_attributes":[]}]},
{"module":"module.gone[\"k\"]","mode":"managed","type":"terraform_data","name":"b","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"index_key":0,"status":"tainted","schema_version":0,"attributes":{"id":"i2","input":null,"output":null,"triggers_replace":null},"sensitive_attributes":[[{"type":"get_attr","value":"input"}]]}]},
{"mode":"managed","type":"terraform_data","name":"d","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"index_key":"q","deposed":"abcdef01","schema_version":0,"attributes":{"id":"i3","input":null,"output":null,"triggers_replace":null},"sensitive_attributes":[]}]}
],"check_results":null}
$ init
$ show -json
$ output -json
$ output -json gone
$ plan -json -out=p
$ show -json p
$ plan -json -refresh-only -out=p
$ show -json p
$ plan -json -refresh=false -out=p
$ show -json p
$ apply -json -auto-approve
$ show -json
