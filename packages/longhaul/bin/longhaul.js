#!/usr/bin/env node
// A file of its own, because npm links programs when it installs, and in a fresh clone nothing is built by then.
import "../dist/main.js";
