//! terraform_data and the other providers that need no remote service.
#![forbid(unsafe_code)]
