/** What a heading says, without its marks. */
export function sectionName(heading: string): string {
  return heading
    .replace(/^#+/, "")
    .replace(/\s#+\s*$/, "")
    .trim();
}

/** Equal for names that a reader takes for the same: case, marks and spaces do not count, `&` is "and". */
export function nameKey(name: string): string {
  const plain = name.normalize("NFKC").toLowerCase();
  const words = plain.replace(/&/g, " and ").replace(/[\p{P}\s`~]+/gu, " ");
  // A name of marks alone is still a name.
  return words.trim() || sectionName(plain);
}
