// The addresses of the root's name servers, for when the resolver does not return them (RFC 9609 section 2): a look-up
// past the resolver starts at one of them. The list itself proves nothing.

export interface RootHint {
  name: string;
  ips: readonly string[];
}

/** The root's servers answer at no other port. */
export const ROOT_PORT = 53;

// https://www.internic.net/domain/named.root, version of 2024-06-14. The last change was b's, in November 2023;
// an address that is given up goes on answering for a year.
export const ROOT_HINTS: readonly RootHint[] = [
  { name: 'a.root-servers.net', ips: ['198.41.0.4', '2001:503:ba3e::2:30'] },
  { name: 'b.root-servers.net', ips: ['170.247.170.2', '2801:1b8:10::b'] },
  { name: 'c.root-servers.net', ips: ['192.33.4.12', '2001:500:2::c'] },
  { name: 'd.root-servers.net', ips: ['199.7.91.13', '2001:500:2d::d'] },
  { name: 'e.root-servers.net', ips: ['192.203.230.10', '2001:500:a8::e'] },
  { name: 'f.root-servers.net', ips: ['192.5.5.241', '2001:500:2f::f'] },
  { name: 'g.root-servers.net', ips: ['192.112.36.4', '2001:500:12::d0d'] },
  { name: 'h.root-servers.net', ips: ['198.97.190.53', '2001:500:1::53'] },
  { name: 'i.root-servers.net', ips: ['192.36.148.17', '2001:7fe::53'] },
  { name: 'j.root-servers.net', ips: ['192.58.128.30', '2001:503:c27::2:30'] },
  { name: 'k.root-servers.net', ips: ['193.0.14.129', '2001:7fd::1'] },
  { name: 'l.root-servers.net', ips: ['199.7.83.42', '2001:500:9f::42'] },
  { name: 'm.root-servers.net', ips: ['202.12.27.33', '2001:dc3::35'] },
];
