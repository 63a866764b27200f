import { readFileSync } from "node:fs";

/**
 * Returns the version of a package that is installed under bench/, not the requested version. Throws if the
 * package is not installed.
 */
export function versionOf(packageName) {
  const path = new URL(`../node_modules/${packageName}/package.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")).version;
}
