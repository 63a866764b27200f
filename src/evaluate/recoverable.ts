import type { Entry } from "../conversation/entry.ts";
import { contextOf, type Haystack } from "./probes/held.ts";

/** Where an agent that has the recall tool can look. */
export type Recoverable = Haystack;

export const recoverableFrom = (said: readonly Entry[]): Recoverable => contextOf(said);
