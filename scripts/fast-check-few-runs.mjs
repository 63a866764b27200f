// Stands in for fast-check while mutants are tested: a mutant that no test notices costs every run of every
// property it is under, and the same cases must be tried each time, or a score could not be compared.
import fc from "fast-check";

const MOST_RUNS = 25;
const SEED = 4;

function assert(property, parameters = {}) {
  const numRuns = Math.min(parameters.numRuns ?? MOST_RUNS, MOST_RUNS);
  return fc.assert(property, { seed: SEED, ...parameters, numRuns, endOnFailure: true });
}

// biome-ignore lint/style/noDefaultExport: the tests import fast-check by its default export.
export default { ...fc, assert };
