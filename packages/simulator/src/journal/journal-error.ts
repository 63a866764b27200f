/** Error answer of the journal. */
export class JournalError extends Error {
  override readonly name = "JournalError";
  readonly status: number;
  readonly remedy: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    remedy: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.remedy = remedy;
    this.headers = headers;
  }
}
