/**
 * Creates a throttled emitter. It emits the first text at once, then the newest one after each interval, and
 * nothing after `stop`.
 */
export function throttled(
  emit: (text: string) => void,
  everyMs: number,
): Readonly<{ report: (text: string) => void; stop: () => void }> {
  let timer: NodeJS.Timeout | undefined;
  let newest: string | undefined;
  const pass = (): void => {
    timer = undefined;
    if (newest === undefined) return;
    emit(newest);
    newest = undefined;
    timer = setTimeout(pass, everyMs);
  };
  return {
    report: (text) => {
      newest = text;
      if (timer === undefined) pass();
    },
    stop: () => clearTimeout(timer),
  };
}
