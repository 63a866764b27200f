/** Reads declarations from our sources. Tests use it for pages that must name exactly the existing fields. */

export const withoutComments = (code: string): string =>
  code.replace(/\/\*.*?\*\//gs, "").replace(/^\s*\/\/.*$/gm, "");

/** Returns the text from the brace at `start` to the matching one. */
export function braces(code: string, start: number): string {
  let depth = 0;
  for (let index = start; index < code.length; index += 1) {
    if (code[index] === "{") depth += 1;
    if (code[index] === "}") depth -= 1;
    if (depth === 0) return code.slice(start, index + 1);
  }
  throw new Error("a brace that nothing closes");
}

/**
 * Returns the fields and methods that an interface itself declares, sorted. Fields of nested objects do not
 * count.
 */
export function declaredFields(code: string, name: string): readonly string[] {
  const source = withoutComments(code);
  const start = source.search(new RegExp(`export interface ${name}\\b`));
  if (start === -1) throw new Error(`There is no interface ${name}`);
  const body = braces(source, source.indexOf("{", start));
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, field = ""]) => field).sort();
}
