import { readFileSync } from "node:fs";

/** As installed under bench/, not as asked for. Throws when it is not there. */
export function versionOf(packageName) {
  const path = new URL(`../node_modules/${packageName}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")).version;
}
