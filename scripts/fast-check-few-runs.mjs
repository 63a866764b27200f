// Replaces fast-check in mutation tests, with fewer runs and fixed cases. Fewer runs save time, because every
// run of every property is executed for a mutant that survives. Fixed cases make scores comparable.
import fc from "fast-check";

const MAX_RUNS = 25;
const SEED = 4;

function assert(property, parameters = {}) {
  const numRuns = Math.min(parameters.numRuns ?? MAX_RUNS, MAX_RUNS);
  return fc.assert(property, { seed: SEED, ...parameters, numRuns, endOnFailure: true });
}

// biome-ignore lint/style/noDefaultExport: the tests import fast-check by its default export.
export default { ...fc, assert };
