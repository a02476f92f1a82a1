// Pebble, the ACME directory for tests (RFC 8555), with its faults on: rejected nonces, reused proofs. It finds names by
// the test's DNS server and calls the port that the test says instead of 80.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Test } from 'tap';
import type { TestDnsServer } from './dns-server.ts';
import { findFreePort } from './free-port.ts';
import { runServer } from './server-program.ts';
import { createTestAuthority } from './test-authority.ts';
import { testFolder } from './test-folder.ts';
import { until } from './until.ts';

/** Of a hundred. A call is tried six times: of the hundreds of a run, one of 30 % would be rejected each time now and then. */
const REJECTED_NONCES = 12;

export interface PebbleOptions {
  dns: TestDnsServer;
  /** Where the challenges are answered. */
  httpPort: number;
  /** Where HTTPS is called for TLS-ALPN-01; missing: nowhere. */
  tlsPort?: number;
  /** In percent. */
  rejectedNonces?: number;
  reusedProofs?: number;
  /** How long a certificate is valid; missing: for years. */
  certificateSeconds?: number;
  /** External account binding: key IDs and keys. */
  bindings?: Record<string, string>;
}

export interface Pebble {
  directory: string;
  /** PEM: trusted for calls to the directory. */
  root: string;
  rootFile: string;
  /** PEM: the root of what it issues. */
  issuerRoot: string;
}

/** Why there is no pebble here, or false. */
export function pebbleMissing(): string | false {
  const { error } = spawnSync('pebble', ['-h']);
  return error ? `pebble is not installed: ${error.message}` : false;
}

export async function startPebble(t: Test, options: PebbleOptions): Promise<Pebble> {
  const { dns, httpPort, rejectedNonces = REJECTED_NONCES, reusedProofs = 50, bindings, certificateSeconds } = options;
  const tlsPort = options.tlsPort ?? (await findFreePort());
  const folder = testFolder(t);
  const authority = createTestAuthority();
  const { certFile, keyFile } = authority.issue('localhost');
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  const configFile = path.join(folder, 'pebble.json');
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: certFile,
    privateKey: keyFile,
    httpPort,
    tlsPort,
    ocspResponderURL: '',
    externalAccountBindingRequired: bindings !== undefined,
    ...(certificateSeconds && { certificateValidityPeriod: certificateSeconds }),
    ...(bindings && { externalAccountMACKeys: bindings }),
  };
  fs.writeFileSync(configFile, JSON.stringify({ pebble }));
  const env = {
    PATH: process.env.PATH,
    PEBBLE_VA_NOSLEEP: '1',
    PEBBLE_WFE_NONCEREJECT: String(rejectedNonces),
    PEBBLE_AUTHZREUSE: String(reusedProofs),
  };
  const server = runServer('pebble', ['-config', configFile, '-strict', '-dnsserver', dns.endpoint], { env });
  t.teardown(async () => {
    await server.stop();
    authority.close();
  });
  const roots = `https://localhost:${managementPort}/roots/0`;
  const issuerRoot = await until('pebble', () => get(roots, authority.ca).catch(() => null));
  const rootFile = path.join(folder, 'directory-root.pem');
  fs.writeFileSync(rootFile, authority.ca);
  return { directory: `https://localhost:${port}/dir`, root: authority.ca, rootFile, issuerRoot };
}

function get(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    https.get(url, { ca, agent: false }, (response) => text(response).then(resolve, reject)).once('error', reject);
  });
}
