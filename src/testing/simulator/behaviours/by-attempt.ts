/** What is played: the same each time, one after the other (the last for all that follow), or by the attempt's number. */
export type Kinds<Kind extends string> = Kind | readonly Kind[] | ((attempt: number) => Kind);

/** `otherwise`: for an empty list. */
export function byAttempt<Kind extends string>(
  kinds: Kinds<Kind>,
  otherwise: Kind,
): (attempt: number) => Kind {
  if (typeof kinds === "function") return kinds;
  const list = typeof kinds === "string" ? [kinds] : kinds;
  return (attempt) => list[attempt] ?? list.at(-1) ?? otherwise;
}
