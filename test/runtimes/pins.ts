/** Versions that `npm run test:runtimes` installs. No other file names a version. */

export const NODE_VERSIONS: readonly string[] = ["20.19.0", "22.23.3", "24.9.0"];
export const BUN_VERSION = "1.4.4";
export const DENO_VERSION = "2.9.6";
export const WORKERD_VERSION = "1.20261117.1";
export const PLAYWRIGHT_VERSION = "1.65.1";
export const CHROMIUM_VERSION = "153.0.0";

/** Compilers that must accept the types of the packed libraries: the newest of each line since 5.4. */
export const TYPESCRIPT_VERSIONS: readonly string[] = [
  "5.4.5",
  "5.5.4",
  "5.6.3",
  "5.7.3",
  "5.8.3",
  "5.9.3",
  "6.0.3",
  "7.0.2",
];
