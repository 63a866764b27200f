/** For Node: runs TypeScript, with the sources of our packages instead of their builds. */
export const FROM_SOURCE: readonly string[] = [
  "--conditions=@longhaul/source",
  "--import",
  // By its place: a program may run in a folder where nothing is installed.
  import.meta.resolve("tsx"),
];
