// Replaces fast-check in mutation tests, with fewer runs and fixed cases. A mutant that survives costs every
// run of every property. Scores are comparable only if the same cases run each time.
import fc from "fast-check";

const MAX_RUNS = 25;
const SEED = 4;

function assert(property, parameters = {}) {
  const numRuns = Math.min(parameters.numRuns ?? MAX_RUNS, MAX_RUNS);
  return fc.assert(property, { seed: SEED, ...parameters, numRuns, endOnFailure: true });
}

// biome-ignore lint/style/noDefaultExport: the tests import fast-check by its default export.
export default { ...fc, assert };
