/** An index that cannot be trusted is thrown away and built anew: nobody is ever told of it. */
export class IndexDamaged extends Error {
  override readonly name: string = "IndexDamaged";
}

export function damaged(what: string): never {
  throw new IndexDamaged(`The index is damaged: ${what}.`);
}
