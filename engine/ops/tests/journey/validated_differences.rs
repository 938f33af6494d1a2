//! Where `validate` differs from Terraform's on purpose.

/// Reasons, and the configurations they are reasons for.
#[rustfmt::skip] // one case a line
pub const DIFFERENT: &[(&str, &[&str])] = &[
    (
        "A mistake that Terraform's validate does not see, or not in this place.",
        &[
            "resource \"terraform_data\" \"a\" {\n count = sensitive(1)\n}\n",
            "resource \"terraform_data\" \"a\" {\n lifecycle {\n replace_triggered_by = [data.x.y]\n }\n}\n",
            "provider \"terraform\" {\n _ {\n alias = \"x\"\n }\n}\n",
            "provider \"terraform\" {\n nope = 1\n}\n",
            "terraform {\n required_providers {\n terraform = 1\n }\n}\n",
            "module \"m\" {\n  source = \"./m\"\n x = each.value\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n",
            "module \"m\" {\n  source = \"./m\"\n\n}\n## m/m.tf\noutput \"y\" {\n value = 1\n}\n## o.tf\noutput \"o\" {\n value = module.m[0].y\n}\n",
            "## o_override.tf\nremoved {\n from = terraform_data.a\n}\n",
            "module \"m\" {\n  source = \"./m\"\n\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n## o_override.tf\nmodule \"m\" {\n x = 2\n nope = 1\n}\n",
            "## a.tf.json\n{\"resource\": {\"terraform_data\": {\"a\": {\"input\": 1}}}}\n## a_override.tf\nresource \"terraform_data\" \"a\" {\n nope = 1\n}\n",
        ],
    ),
    (
        "All mistakes are told in one run; Terraform stops after the first stage that finds any.",
        &[
            "module \"m\" {\n  source = \"./m\"\n depends_on = [local.q, terraform_data.x]\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n",
            "module \"m\" {\n  source = \"./m\"\n providers = {\n terraform = terraform\n terraform = terraform\n }\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n",
            "module \"m\" {\n  source = \"./m\"\n providers = {\n terraform = gone.x\n }\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n",
            "variable \"x\" {\n default = \"a\"\n}\n## o_override.tf\nvariable \"x\" {\n type = number\n}\n",
            "output \"o\" {\n value = 1\n precondition {\n condition = var.gone\n error_message = \"X.\"\n }\n}\n## o_override.tf\noutput \"o\" {\n precondition {\n condition = 1 > 0\n error_message = \"X.\"\n }\n}\n",
            "variable \"x\" {\n validation {\n condition = var.x > local.gone\n error_message = \"X.\"\n }\n}\n## o_override.tf\nvariable \"x\" {\n validation {\n condition = var.x > 0\n error_message = \"X.\"\n }\n}\n",
            "## a.tf.json\n{\"locals\": {\"x\": 1}}\n## a_override.tf.json\n{\"locals\": {\"x\": \"${var.gone}\", \"y\": 1}}\n",
        ],
    ),
    (
        "The language of later versions, or of OpenTofu: action, list, language, enabled, any expression in prevent_destroy, null for no version.",
        &[
            "resource \"terraform_data\" \"a\" {\n lifecycle {\n prevent_destroy = null\n }\n}\n",
            "module \"m\" {\n  source = \"./m\"\n lifecycle {\n }\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n",
            "module \"m\" {\n  source = \"./m\"\n version = null\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n",
            "action \"a\" \"b\" {\n}\n",
            "list \"a\" \"b\" {\n}\n",
            "language {\n}\n",
        ],
    ),
    (
        "The same mistake, by another name or at another place.",
        &[
            "resource \"terraform_data\" \"a\" {\n lifecycle {\n ignore_changes = [input, id]\n }\n}\n",
            "resource \"terraform_data\" \"a\" {\n lifecycle {\n ignore_changes = [output]\n }\n}\n",
            "resource \"terraform_data\" \"a\" {\n _ {\n nope = each.key\n }\n}\n",
            "module \"m\" {\n  source = \"./m\"\n providers = {\n terraform = terraform.x\n }\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n",
            "terraform {\n required_version = 1\n}\n",
            "module \"m\" {\n  source = \"./m\"\n x = module.m.y\n}\n## m/m.tf\nvariable \"x\" {\n  default = 1\n}\n",
            "resource \"terraform_data\" \"a\" {\n id = 1\n}\n",
            "resource \"terraform_data\" \"a\" {\n output = 1\n}\n",
            "## main.tf.json\n{\"module\": {\"m\": {\"source\": \"./m\", \"x\": \"${var.gone}\", \"providers\": {\"terraform\": \"terraform\"}}}}\n## m/m.tf\nvariable \"x\" {}\n",
        ],
    ),
    (
        "A provider that is not there leaves its blocks unchecked, which is a warning; and a name that can be none is said to be one.",
        &[
            "resource \"terraform_data\" \"a\" {\n provider = var.x\n}\n",
            "resource \"terraform_data\" \"a\" {\n provider = null\n}\n",
            "resource \"terraform_data\" \"a\" {\n provider = gone\n}\n",
            "resource \"terraform_data\" \"a\" {\n provider = foo.x\n}\n",
            "provider \"1x\" {\n}\n",
            "terraform {\n required_providers {\n terraform = {\n source = \"-/x\"\n }\n }\n}\n",
            "resource \"nope_thing\" \"a\" {\n}\n",
            "ephemeral \"nope_x\" \"a\" {\n}\n",
        ],
    ),
    (
        "In a providers argument Terraform takes the name terraform for another provider than the built-in one, which it is everywhere else.",
        &[
            "module \"m\" {\n  source = \"./m\"\n providers = {\n terraform.x = terraform.x\n }\n}\n## m/m.tf\nterraform {\n required_providers {\nterraform = {\n source = \"terraform.io/builtin/terraform\"\n configuration_aliases = [terraform.x]\n}\n }\n}\n## p.tf\nprovider \"terraform\" {\n alias = \"x\"\n}\n",
        ],
    ),
    (
        "What follows from a mistake that is told is not told as well.",
        &[
            "check \"c\" {\n assert {\n condition = true\n error_message = \"X.\"\n }\n}\n",
            "check \"c\" {\n assert {\n }\n}\n",
        ],
    ),
    (
        "What is wrong with a provisioner is told at its block, as that of remote-exec is.",
        &[
            "resource \"terraform_data\" \"a\" {\n provisioner \"file\" {\n destination = \"x\"\n }\n}\n",
        ],
    ),
    (
        "An override is merged before its base is read, so what is overridden is not judged.",
        &[
            "terraform {\n required_providers {\n terraform = {\n version = \"x\"\n }\n }\n}\n## o_override.tf\nterraform {\n required_providers {\nterraform = {\n source = \"terraform.io/builtin/terraform\"\n\n}\n }\n}\n",
        ],
    ),
];
