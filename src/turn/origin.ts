import type { EntryLink } from "../conversation/entry.ts";
import type { ResolvedOptions } from "./resolve-options.ts";

/** What all entries made here have in common. */
export type Origin = Omit<EntryLink, "uuid" | "parentUuid" | "timestamp"> & { readonly agentId?: string };

export function originOf({ sessionId, cwd }: ResolvedOptions, agentId: string | undefined): Origin {
  return {
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(agentId === undefined ? {} : { isSidechain: true, agentId }),
  };
}
