import { existsSync, readFileSync } from "node:fs";

const FOLDERS = ["../node_modules", "../fidelity/node_modules"];

/**
 * Returns the version of a package that is installed under bench/, not the requested version. Throws if the
 * package is not installed.
 */
export function versionOf(packageName) {
  const paths = FOLDERS.map((folder) => new URL(`${folder}/${packageName}/package.json`, import.meta.url));
  const path = paths.find((candidate) => existsSync(candidate));
  if (path === undefined) throw new Error(`${packageName} is not installed under bench/`);
  return JSON.parse(readFileSync(path, "utf8")).version;
}
