import type { PrivateNetwork } from "./private-network.ts";

export interface WebAddress {
  readonly url: URL;
  /** Decided by the host name alone. */
  readonly isPrivate: boolean;
}

/** Characters. A longer address carries data out rather than names a page. */
const MAX_ADDRESS_CHARS = 2_000;

export interface WrongAddress {
  /** A sentence for the model. */
  readonly wrong: string;
  /** Only for a model that wrote the address itself. A redirect to a file must not advise it to read the file. */
  readonly advice: string;
}

const TOO_LONG: WrongAddress = {
  wrong: `The address is longer than ${MAX_ADDRESS_CHARS} characters.`,
  advice: "Use a shorter one.",
};

/** The address to fetch, or the reason why it is refused. */
export function readAddress(text: string, network: PrivateNetwork): WebAddress | WrongAddress {
  if (text.length > MAX_ADDRESS_CHARS) return TOO_LONG;
  if (!URL.canParse(text))
    return {
      wrong: "The address is not valid.",
      advice: "Pass a complete one, such as https://example.org/page.",
    };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return { wrong: "WebFetch fetches only http and https addresses.", advice: "Use Read for files." };
  if (url.username !== "" || url.password !== "")
    return { wrong: "The address contains a user name or a password.", advice: "Remove it." };
  const isPrivate = network.hasHost(url.hostname);
  // Private networks often serve only http, and the user grants each of their hosts.
  if (!isPrivate && url.protocol === "http:") url.protocol = "https:";
  url.hash = "";
  // Encoding makes some characters nine times as long.
  return url.href.length > MAX_ADDRESS_CHARS ? TOO_LONG : { url, isPrivate };
}
