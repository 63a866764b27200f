import fc from "fast-check";

/**
 * Seed of the property tests. Without it, every run uses a random seed. CI sets the seed. With the same seed,
 * a run before a push tests the same cases as CI, and a reported failure can be reproduced.
 */
const seed = process.env.PROPERTY_SEED;

if (seed !== undefined) {
  if (!/^-?\d+$/.test(seed)) throw new Error(`PROPERTY_SEED is "${seed}", which is not a whole number.`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}
