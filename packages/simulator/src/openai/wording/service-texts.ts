import type { OpenAiTextRow } from "./text-row.ts";

/** Error texts about a whole call: paths, keys, models, stored responses, the window. Faults use them too. */
export const SERVICE_TEXTS = {} as const satisfies Readonly<Record<string, OpenAiTextRow>>;
