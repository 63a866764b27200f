/** A function that blocks. It reports its call and returns only when the test releases it. */
export class Standstill {
  readonly reached: Promise<void>;
  readonly #end: Promise<void>;
  #tell: () => void = () => undefined;
  release: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#tell = resolve;
    });
    this.#end = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  async stand<T>(otherwise: T): Promise<T> {
    this.#tell();
    await this.#end;
    return otherwise;
  }
}
