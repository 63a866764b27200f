/** Reads declarations out of our own sources, for pages that must name exactly what there is. */

export const withoutComments = (code: string): string =>
  code.replace(/\/\*.*?\*\//gs, "").replace(/^\s*\/\/.*$/gm, "");

/** From the brace at `start` to the one that closes it. */
export function braces(code: string, start: number): string {
  let depth = 0;
  for (let index = start; index < code.length; index += 1) {
    if (code[index] === "{") depth += 1;
    if (code[index] === "}") depth -= 1;
    if (depth === 0) return code.slice(start, index + 1);
  }
  throw new Error("a brace that nothing closes");
}

/** Names of the fields and methods that an interface declares itself, sorted; those within fields are not its own. */
export function declaredFields(code: string, name: string): readonly string[] {
  const source = withoutComments(code);
  const start = source.search(new RegExp(`export interface ${name}\\b`));
  if (start === -1) throw new Error(`There is no interface ${name}`);
  const body = braces(source, source.indexOf("{", start));
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, field = ""]) => field).sort();
}
