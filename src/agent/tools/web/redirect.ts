import { readAddress, type WrongAddress } from "./address.ts";
import type { PrivateNetwork } from "./private-network.ts";

/** A redirect that needs a call and a permission of its own. */
export interface OtherAddress {
  readonly kind: "redirect";
  readonly to: string;
  readonly isPrivate: boolean;
  readonly reason: "other-host" | "no-encryption";
}

export type Redirect = { readonly kind: "same-host"; readonly url: URL } | OtherAddress | WrongAddress;

/** Decides about a `Location` header. A permission covers one host and port, so only those are followed. */
export function readRedirect(from: URL, location: string, network: PrivateNetwork): Redirect {
  const to = URL.canParse(location, from.href) ? new URL(location, from.href).href : location;
  const address = readAddress(to, network);
  if ("wrong" in address) return address;
  const { url, isPrivate } = address;
  const other = { kind: "redirect", to: url.href, isPrivate } as const;
  if (url.host !== from.host) return { ...other, reason: "other-host" };
  if (from.protocol === "https:" && url.protocol === "http:") return { ...other, reason: "no-encryption" };
  return { kind: "same-host", url };
}
