//! Hermetic surroundings for tests: folders, scenario writer, scripted provider, mock launcher.
#![forbid(unsafe_code)]
