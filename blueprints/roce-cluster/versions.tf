terraform {
  # Provider-defined functions came with 1.8; nothing here needs more.
  required_version = ">= 1.8"

  required_providers {
    formwork = {
      source = "formwork/formwork"
    }
    google = {
      source  = "hashicorp/google"
      version = ">= 7.0, < 8.0"
    }
  }
}
