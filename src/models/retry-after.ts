const MS_PER_SECOND = 1_000;

/** How long the server asks to wait, in milliseconds: by the exact header first, then by the standard one. */
export function headerDelayMs(header: (name: string) => string | undefined): number | undefined {
  const exact = amount(header("retry-after-ms"));
  if (exact !== undefined) return exact;
  const after = header("retry-after");
  const seconds = amount(after);
  if (seconds !== undefined) return seconds * MS_PER_SECOND;
  // A date is read against the server's own clock, so that ours need not be right.
  const delay = Date.parse(after ?? "") - Date.parse(header("date") ?? "");
  return delay >= 0 ? delay : undefined;
}

function amount(text: string | undefined): number | undefined {
  const value = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}
