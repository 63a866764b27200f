// Replaces fast-check in mutation tests. A mutant that survives costs every run of every property, and the
// same cases must run each time, or scores would not be comparable.
import fc from "fast-check";

const MAX_RUNS = 25;
const SEED = 4;

function assert(property, parameters = {}) {
  const numRuns = Math.min(parameters.numRuns ?? MAX_RUNS, MAX_RUNS);
  return fc.assert(property, { seed: SEED, ...parameters, numRuns, endOnFailure: true });
}

// biome-ignore lint/style/noDefaultExport: the tests import fast-check by its default export.
export default { ...fc, assert };
