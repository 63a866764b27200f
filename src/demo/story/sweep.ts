import { RESOURCES, type ResourceSpec } from "../project/resources.ts";
import type { Stage } from "./stage.ts";

/**
 * The same change in one resource after the other, as long as it fits into the allowance; at least one.
 * Returns those that were done: what the agent then says depends on it.
 */
export function sweep(
  stage: Stage,
  allowanceTokens: number,
  round: (stage: Stage, spec: ResourceSpec, index: number) => void,
): readonly ResourceSpec[] {
  const { recorder } = stage;
  const start = recorder.contextTokens;
  const done: ResourceSpec[] = [];
  for (const spec of RESOURCES) {
    const used = recorder.contextTokens - start;
    const perRound = done.length === 0 ? 0 : used / done.length;
    if (done.length > 0 && used + perRound > allowanceTokens) break;
    round(stage, spec, done.length);
    done.push(spec);
  }
  return done;
}

export const repositoryPath = (spec: ResourceSpec): string => `src/resources/${spec.plural}/repository.ts`;
export const routesPath = (spec: ResourceSpec): string => `src/resources/${spec.plural}/routes.ts`;
export const testPath = (spec: ResourceSpec): string => `test/${spec.plural}.test.ts`;

export function namesOf(specs: readonly ResourceSpec[]): string {
  return specs.map(({ plural }) => plural).join(", ");
}

export function leftOver(done: readonly ResourceSpec[]): readonly ResourceSpec[] {
  return RESOURCES.filter((spec) => !done.includes(spec));
}

/** From the line that holds `opening` to the first line that closes it at the same depth. */
export function memberText(text: string, opening: string): string {
  const start = text.indexOf(opening);
  const indent = /^ */.exec(opening)?.[0] ?? "";
  const close = new RegExp(`^${indent}\\}\\)?;?\\n`, "m").exec(text.slice(start));
  if (start < 0 || close === null) throw new RangeError(`No closed member begins with: ${opening}`);
  return text.slice(start, start + close.index + close[0].length);
}
