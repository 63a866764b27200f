import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { privateNetwork, readAddress } from "./web-address.ts";

const network = privateNetwork();

describe("private network detection", () => {
  it("counts this machine, its neighbors and cloud metadata hosts as private in any notation", () => {
    const hosts = [
      ...[
        "localhost",
        "localhost.",
        "localhost..",
        "a.localhost",
        "LOCALHOST",
        "printer",
        "wiki.corp",
        "nas.local",
      ],
      ...["127.0.0.1", "127.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1"],
      ...["169.254.169.254", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1"],
      ...["[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[ff02::1]", "[::ffff:127.0.0.1]", "[64:ff9b::a00:1]"],
      ...["[::127.0.0.1]", "[64:ff9b:1::a00:1]", "[2002:7f00:1::]"],
    ];
    expect(hosts.filter((host) => !network.hasHost(host))).toEqual([]);
    for (const odd of ["http://0x7f.1/", "http://2130706433/", "http://017700000001/", "http://ⓛocalhost/"])
      expect(readAddress(odd, network)).toMatchObject({ isPrivate: true });
  });

  it("counts no public host as private", () => {
    const hosts = [
      ...["example.org", "local.example.org", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.128.0.1"],
      ...["[2606:4700::1111]", "[64:ff9b::808:808]", "[::ffff:8.8.8.8]"],
    ];
    expect(hosts.filter((host) => network.hasHost(host))).toEqual([]);
  });

  it("treats an IPv4 address and the IPv6 address that contains it alike", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(network.hasAddress(`::ffff:${address}`)).toBe(network.hasAddress(address));
        expect(network.hasAddress(`64:ff9b::${address}`)).toBe(network.hasAddress(address));
      }),
    );
  });

  it("counts text that is not an address as private", () => {
    expect(network.hasAddress("example.org")).toBe(true);
    expect(network.hasAddress("")).toBe(true);
  });
});

describe("readAddress", () => {
  const href = (text: string): string => {
    const address = readAddress(text, network);
    return "wrong" in address ? "wrong" : address.url.href;
  };

  it("upgrades an address to https unless the host is in a private network", () => {
    expect(href("http://example.org/a?b#c")).toBe("https://example.org/a?b");
    expect(href("http://example.org:80/")).toBe("https://example.org/");
    expect(href("http://127.0.0.1:3000/")).toBe("http://127.0.0.1:3000/");
  });

  it("rejects an address that is invalid, too long, neither http nor https, or has a password", () => {
    const wrong = [
      ...["example.org", "", "file:///etc/passwd", "ftp://a.b/", "data:text/html,x", "javascript:1"],
      ...[
        "https://user:secret@example.org/",
        "https://user@example.org/",
        `https://a.b/${"x".repeat(2_000)}`,
        // Each character takes nine in the encoded address.
        `https://a.b/${"\u4e2d".repeat(300)}`,
      ],
    ];
    expect(wrong.filter((text) => href(text) !== "wrong")).toEqual([]);
  });

  it("readAddress never throws, whatever the text of the address", () => {
    fc.assert(
      fc.property(fc.constantFrom("", "http://", "https://a:b@", "https:"), fc.string(), (start, rest) => {
        const text = start + rest;
        const address = readAddress(text, network);
        if (!("wrong" in address)) expect(address.url.username + address.url.password).toBe("");
      }),
    );
  });
});
