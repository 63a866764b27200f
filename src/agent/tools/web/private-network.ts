import { BlockList, isIP } from "node:net";

/** Addresses that lead to this machine, its network, or nowhere: what answers there was not made for everybody. */
const IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Also where clouds keep the credentials of a machine.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
];
const IPV6: readonly (readonly [string, number])[] = [
  // With all that are one of the older kind in an old way.
  ["::", 96],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
  // They carry an address of the older kind, which can be any.
  ["2002::", 16],
  ["64:ff9b:1::", 48],
];
/** Names that are never public. */
const PRIVATE_ENDINGS = [".localhost", ".local", ".internal", ".lan", ".home.arpa", ".intranet", ".corp"];

export interface PrivateNetwork {
  hasAddress(address: string): boolean;
  /** By the name alone, as it stands in an address: nothing is looked up. */
  hasHost(hostname: string): boolean;
}

export function privateNetwork(): PrivateNetwork {
  const list = new BlockList();
  for (const [address, bits] of IPV4) list.addSubnet(address, bits, "ipv4");
  for (const [address, bits] of IPV6) list.addSubnet(address, bits, "ipv6");
  const hasAddress = (address: string): boolean => {
    const plain = olderAddressIn(address) ?? address;
    const kind = isIP(plain);
    // What is no address is nothing that may be gone to.
    return kind === 0 || list.check(plain, kind === 4 ? "ipv4" : "ipv6");
  };
  return {
    hasAddress,
    hasHost: (hostname) => {
      const name = hostname
        .toLowerCase()
        .replace(/^\[(.*)\]$/, "$1")
        .replace(/\.$/, "");
      if (isIP(name) !== 0) return hasAddress(name);
      return !name.includes(".") || PRIVATE_ENDINGS.some((ending) => name.endsWith(ending));
    },
  };
}

/** Networks of the newer kind alone reach those of the older one by addresses that hold it: what is in it counts. */
function olderAddressIn(address: string): string | undefined {
  if (isIP(address) !== 6 || !URL.canParse(`http://[${address}]`)) return undefined;
  const [, rest] = /^\[(?:::ffff:|64:ff9b::)([^\]]*)\]$/.exec(new URL(`http://[${address}]`).hostname) ?? [];
  if (rest === undefined) return undefined;
  const [low = 0, high = 0] = rest
    .split(":")
    .reverse()
    .map((group) => Number.parseInt(group || "0", 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
