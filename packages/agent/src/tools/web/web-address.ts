import { BlockList, isIP } from "node:net";

/** Addresses that WebFetch may fetch: which are valid, which are private, and where a redirect may lead. */

export interface WebAddress {
  readonly url: URL;
  /** True if the host name alone shows that it is private. */
  readonly isPrivate: boolean;
}

/** Maximum characters of an address. A longer address is more likely to send data out than to name a page. */
const MAX_ADDRESS_CHARS = 2_000;

interface WrongAddress {
  /** Problem as a sentence for the model. */
  readonly wrong: string;
  /**
   * Advice only for a model that wrote the address itself. If a server redirects to a file, the model must
   * not get the advice to read the file.
   */
  readonly advice: string;
}

const TOO_LONG: WrongAddress = {
  wrong: `The address is longer than ${MAX_ADDRESS_CHARS} characters.`,
  advice: "Use a shorter one.",
};

/** Returns the address to fetch, or the reason why it is refused. */
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
  // Private networks often serve only http, and the user allows each private host separately.
  if (!isPrivate && url.protocol === "http:") url.protocol = "https:";
  url.hash = "";
  // Encoding makes some characters nine times as long.
  return url.href.length > MAX_ADDRESS_CHARS ? TOO_LONG : { url, isPrivate };
}

/** Redirect that needs its own call and permission. */
export interface OtherAddress {
  readonly kind: "redirect";
  readonly to: string;
  readonly isPrivate: boolean;
  readonly reason: "other-host" | "no-encryption";
}

type Redirect = { readonly kind: "same-host"; readonly url: URL } | OtherAddress | WrongAddress;

/**
 * Decides about a `Location` header. A permission covers one host and port, so only redirects to the same
 * host and port are followed.
 */
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

/** Addresses that lead to this machine, its network, or nowhere. A server there does not serve the public. */
const IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Clouds serve the credentials of a machine here.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  // Addresses for documentation, which no public server uses.
  ["192.0.2.0", 24],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  // Relays that forward to any 6to4 address.
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
];
const IPV6: readonly (readonly [string, number])[] = [
  // The unspecified address, the loopback address, and IPv4 addresses in a deprecated notation.
  ["::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  // Addresses of 6to4, Teredo and local NAT64 contain an IPv4 address, which may be private.
  ["2002::", 16],
  ["2001::", 23],
  ["64:ff9b:1::", 48],
  // Addresses for discarded packets, for documentation and for segment routing.
  ["100::", 64],
  ["2001:db8::", 32],
  ["3fff::", 20],
  ["5f00::", 16],
];
/** Names that are never public. */
const PRIVATE_ENDINGS = [".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp"];

export interface PrivateNetwork {
  hasAddress(address: string): boolean;
  /** Checks for a private host by the host name of a URL alone, without a DNS lookup. */
  hasHost(hostname: string): boolean;
}

export function privateNetwork(): PrivateNetwork {
  const list = new BlockList();
  for (const [address, bits] of IPV4) list.addSubnet(address, bits, "ipv4");
  for (const [address, bits] of IPV6) list.addSubnet(address, bits, "ipv6");
  const hasAddress = (address: string): boolean => {
    const plain = ipv4Within(address) ?? address;
    const kind = isIP(plain);
    // Text that is not an address counts as private, so that nothing connects to it. An address with a zone
    // (after `%`) counts as private too, because only local addresses have a zone.
    return kind === 0 || plain.includes("%") || list.check(plain, kind === 4 ? "ipv4" : "ipv6");
  };
  return {
    hasAddress,
    hasHost: (hostname) => {
      const name = hostname
        .toLowerCase()
        .replace(/^\[(.*)\]$/, "$1")
        .replace(/\.+$/, "");
      if (isIP(name) !== 0) return hasAddress(name);
      return !name.includes(".") || PRIVATE_ENDINGS.some((ending) => name.endsWith(ending));
    },
  };
}

/** Returns the IPv4 address that a mapped or NAT64 address leads to. */
function ipv4Within(address: string): string | undefined {
  if (isIP(address) !== 6 || !URL.canParse(`http://[${address}]`)) return undefined;
  const [, rest] = /^\[(?:::ffff:|64:ff9b::)([^\]]*)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (rest === undefined) return undefined;
  const [low = 0, high = 0] = rest
    .split(":")
    .reverse()
    .map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
