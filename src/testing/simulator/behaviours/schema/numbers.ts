import type { JsonRecord } from "../../../../conversation/untrusted.ts";
import type { Random } from "../../../../demo/random.ts";
import { numberIn } from "./schema.ts";

/** How far an open range goes: small numbers are what inputs mostly hold. */
const USUAL_SPAN = 100;
/** Enough digits for any sensible step, few enough to round the error of a product away. */
const SIGNIFICANT_DIGITS = 12;

export function numberFor(schema: JsonRecord, random: Random, isWhole: boolean): number {
  const step = numberIn(schema, "multipleOf") ?? 0;
  const unit = step > 0 ? step : 1;
  const [low, high] = bounds(schema, unit);
  const isOutside = (value: number): boolean =>
    numberIn(schema, "exclusiveMinimum") === value || numberIn(schema, "exclusiveMaximum") === value;
  let first = Math.ceil(low / unit);
  let last = Math.floor(high / unit);
  if (isOutside(first * unit)) first++;
  if (isOutside(last * unit)) last--;
  if (first > last) return isWhole ? Math.ceil(low) : (low + high) / 2;
  const value = random.between(first, last) * unit;
  return Number.isInteger(unit) ? value : Number(value.toPrecision(SIGNIFICANT_DIGITS));
}

function bounds(schema: JsonRecord, unit: number): readonly [low: number, high: number] {
  const lowest = Math.max(
    numberIn(schema, "minimum") ?? Number.NEGATIVE_INFINITY,
    numberIn(schema, "exclusiveMinimum") ?? Number.NEGATIVE_INFINITY,
  );
  const highest = Math.min(
    numberIn(schema, "maximum") ?? Number.POSITIVE_INFINITY,
    numberIn(schema, "exclusiveMaximum") ?? Number.POSITIVE_INFINITY,
  );
  const span = USUAL_SPAN * Math.max(1, unit);
  if (Number.isFinite(lowest)) return [lowest, Math.min(highest, lowest + span)];
  if (Number.isFinite(highest)) return [highest - span, highest];
  return [0, span];
}
