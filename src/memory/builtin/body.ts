import { splitItems } from "../../summary/readers/readers.ts";

/** What stands under a heading, taken apart. */
export interface BodyItems {
  /** Each whole, with all that hangs below it; ours and those of others alike. */
  readonly items: readonly string[];
  /** How many had no room, over all updates. */
  readonly leftOut: number;
}

const LEFT_OUT = /^\((\d{1,9}) older items? left out; see the transcript\)$/;
const FENCE = /^\s*(`{3,}|~{3,})/gm;

export function readBody(body: string): BodyItems {
  let leftOut = 0;
  const items = splitItems(body, (line) => {
    const count = LEFT_OUT.exec(line)?.[1];
    leftOut += Number(count ?? 0);
    return count !== undefined;
  });
  return { items, leftOut };
}

export function writeBody(items: readonly string[], leftOut: number): string {
  const parts = leftOut > 0 ? [leftOutLine(leftOut)] : [];
  for (const item of items) parts.push(isBullet(item) || parts.length === 0 ? item : `\n${item}`);
  return parts.join("\n");
}

export function leftOutLine(count: number): string {
  return `(${count} older item${count === 1 ? "" : "s"} left out; see the transcript)`;
}

const isBullet = (item: string): boolean => /^(?:[-*•]|\d{1,3}[.)])\s/.test(item);

/** Items that follow are not to be taken into code that somebody forgot to end. */
export function withClosedFence(item: string): string {
  if (!/`{3}|~{3}/.test(item) || endsByItself(item)) return item;
  const marks = new Set([...item.matchAll(FENCE)].map((match) => match[1]));
  const closed = [...marks].map((mark) => `${item}\n${mark}`);
  return closed.find(endsByItself) ?? item;
}

const endsByItself = (item: string): boolean => splitItems(`${item}\n- x`, () => false).length > 1;
