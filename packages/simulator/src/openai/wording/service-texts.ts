/** Error texts about a whole call: paths, keys, models, stored responses, the window. Faults use them too. */
export const SERVICE_TEXTS = {} as const;
