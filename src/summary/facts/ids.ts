/** Short names for facts, the same whenever they are derived from the same things. */
export class FactIds {
  readonly #taken: Set<string>;

  /** `taken`: those of earlier compactions, which stay theirs. */
  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  /** Two things with one name are told apart by a number. */
  make(letter: string, key: string): string {
    const name = `${letter}${shortHash(key)}`;
    let id = name;
    for (let count = 2; this.#taken.has(id); count++) id = `${name}-${count}`;
    this.#taken.add(id);
    return id;
  }
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const ID_CHARS = 5;

/** FNV-1a in base 36, cut: 60 million names, for some hundred facts. */
function shortHash(text: string): string {
  let hash = FNV_OFFSET;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), FNV_PRIME);
  }
  return (hash >>> 0).toString(36).padStart(ID_CHARS, "0").slice(-ID_CHARS);
}
