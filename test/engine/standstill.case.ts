/** Does not come back until it is let go, and says that it was called. */
export class Standstill {
  readonly reached: Promise<void>;
  readonly #end: Promise<void>;
  #tell: () => void = () => undefined;
  letGo: () => void = () => undefined;

  constructor() {
    this.reached = new Promise((resolve) => {
      this.#tell = resolve;
    });
    this.#end = new Promise((resolve) => {
      this.letGo = resolve;
    });
  }

  async stand<T>(otherwise: T): Promise<T> {
    this.#tell();
    await this.#end;
    return otherwise;
  }
}
