/**
 * An SVG fragment that can be embedded in another fragment. Only the functions in this file create fragments,
 * so that all text in a fragment is escaped.
 */
export interface Svg {
  readonly markup: string;
}

type Attributes = Readonly<Record<string, string | number>>;

export function element(name: string, attributes: Attributes = {}, children: readonly Svg[] = []): Svg {
  const opening = [
    name,
    ...Object.entries(attributes).map(([key, value]) => `${key}="${escaped(shown(value))}"`),
  ].join(" ");
  if (children.length === 0) return { markup: `<${opening}/>` };
  return { markup: `<${opening}>${children.map(({ markup }) => markup).join("")}</${name}>` };
}

export const text = (content: string): Svg => ({ markup: escaped(content) });

export const label = (content: string, x: number, y: number, attributes: Attributes = {}): Svg =>
  element("text", { x, y, ...attributes }, [text(content)]);

export const line = (x1: number, y1: number, x2: number, y2: number, className: string): Svg =>
  element("line", { x1, y1, x2, y2, class: className });

/** Rounds to a tenth of a pixel, because smaller differences are invisible. */
export const roundToTenth = (value: number): number => Math.round(value * 10) / 10;

const shown = (value: string | number): string =>
  typeof value === "number" ? String(roundToTenth(value)) : value;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** Escapes markup. Removes characters that XML cannot represent even in escaped form. */
const escaped = (value: string): string =>
  value
    .replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "")
    .replace(/[&<>"]/g, (character) => ESCAPES[character] ?? "");
