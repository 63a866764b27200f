/** Node arguments that run TypeScript with the sources of our packages instead of their builds. */
export const FROM_SOURCE: readonly string[] = [
  "--conditions=@longhaul/source",
  "--import",
  // An absolute address, because a program may run in a folder without installed packages.
  import.meta.resolve("tsx"),
];
