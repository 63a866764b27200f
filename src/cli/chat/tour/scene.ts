import type { JsonRecord } from "../../../conversation/untrusted.ts";
import type { Sight } from "./sight.ts";

/** One answer of the stand-in that goes on with tools. */
export interface Step {
  readonly say?: string;
  readonly calls: readonly Call[];
}

export interface Call {
  readonly tool: string;
  readonly input: JsonRecord;
}

/** A request of the person and how it is worked on. Where the work is follows from the calls that were answered. */
export interface Scene {
  /** Without anything but letters: it stands in the ids of calls. */
  readonly name: string;
  readonly prompt: string;
  readonly steps: readonly ((sight: Sight) => Step)[];
  /** Asked from this step on: the rest is only done until there is enough of it. */
  readonly enough?: { readonly from: number; is(sight: Sight): boolean };
  readonly answer: (sight: Sight) => string;
}

export const call = (tool: string, input: JsonRecord): Call => ({ tool, input });

/** Paths in calls are absolute, as tools want them. */
export type InProject = (path: string) => string;
