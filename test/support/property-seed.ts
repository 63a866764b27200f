import fc from "fast-check";

/**
 * By hand every run of the tests looks in new places. A seed says where to look: CI gives one, so that what
 * passed before a change was sent passes there too, and a failure it reports can be seen again anywhere.
 */
const seed = process.env.PROPERTY_SEED;

if (seed !== undefined) {
  if (!/^-?\d+$/.test(seed)) throw new Error(`PROPERTY_SEED is "${seed}", which is not a whole number.`);
  fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
}
