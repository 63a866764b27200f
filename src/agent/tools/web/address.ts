import type { PrivateNetwork } from "./private-network.ts";

export interface WebAddress {
  readonly url: URL;
  /** Told by the host's name. */
  readonly isPrivate: boolean;
}

/** Longer ones carry something away rather than lead somewhere. */
const LONGEST_ADDRESS = 2_000;

/** What an address means, or in words for the model what is wrong with it. */
export function readAddress(text: string, network: PrivateNetwork): WebAddress | { readonly wrong: string } {
  if (text.length > LONGEST_ADDRESS) return { wrong: `It is longer than ${LONGEST_ADDRESS} characters.` };
  if (!URL.canParse(text))
    return { wrong: "It is no address: give a whole one, such as https://example.org/page." };
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:")
    return { wrong: "Only http and https are fetched; for files there is Read." };
  if (url.username !== "" || url.password !== "")
    return { wrong: "It holds a user name or a password, which must not stand in addresses." };
  const isPrivate = network.hasHost(url.hostname);
  // Within a private network there is often nothing but http, and the user is asked for each host there.
  if (!isPrivate && url.protocol === "http:") url.protocol = "https:";
  url.hash = "";
  return { url, isPrivate };
}
