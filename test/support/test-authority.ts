// A certificate authority for one test, made with `openssl`: certificates for whatever names the
// test needs. Its keys are worth nothing beyond the test.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export interface TestCertificate {
  key: string;
  cert: string;
  /** The same as files, for servers that are not ours. */
  keyFile: string;
  certFile: string;
}

export interface TestAuthority {
  /** The root, in PEM. */
  ca: string;
  /** Signed by the root, valid for these names. */
  issue(...names: string[]): TestCertificate;
  /** Signed by an authority that the root has signed: without its certificate clients do not trust this one. */
  issueIndirectly(name: string): TestCertificate & { intermediate: string };
  /** Of the kind that was given up long ago: the name is the subject's only. */
  issueByCommonName(name: string): TestCertificate;
  close(): void;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

export function createTestAuthority(): TestAuthority {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-authority-'));
  // Servers under test read their key as a user of their own.
  fs.chmodSync(folder, 0o755);
  const file = (name: string) => path.join(folder, name);
  const request = (...options: string[]) => execFileSync('openssl', ['req', '-x509', ...options], { stdio: 'pipe' });
  const root = ['-keyout', file('root.key'), '-out', file('root.pem')];
  request(...NEW_KEY, ...root, '-subj', '/CN=Test only, worth nothing', '-addext', 'keyUsage=critical,keyCertSign');
  let issued = 0;
  const issue = (commonName: string, extensions: string[], { by = 'root', mayIssue = false } = {}): TestCertificate => {
    const keyFile = file(`${++issued}.key`);
    const certFile = file(`${issued}.pem`);
    const signed = ['-CA', file(`${by}.pem`), '-CAkey', file(`${by}.key`)];
    const kind = ['-addext', `basicConstraints=critical,CA:${mayIssue ? 'TRUE' : 'FALSE'}`];
    const subject = ['-subj', `/CN=${commonName}`];
    request(...NEW_KEY, ...signed, ...kind, '-keyout', keyFile, '-out', certFile, ...subject, ...extensions);
    fs.chmodSync(keyFile, 0o644);
    return { keyFile, certFile, key: fs.readFileSync(keyFile, 'utf8'), cert: fs.readFileSync(certFile, 'utf8') };
  };
  const forNames = (...names: string[]) => [
    '-addext',
    `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
  ];
  return {
    ca: fs.readFileSync(file('root.pem'), 'utf8'),
    issue: (...names) => issue(names[0]!, forNames(...names)),
    issueIndirectly(name) {
      const between = issue('Test only, between', ['-addext', 'keyUsage=critical,keyCertSign'], { mayIssue: true });
      const by = path.basename(between.certFile, '.pem');
      return { ...issue(name, forNames(name), { by }), intermediate: between.cert };
    },
    issueByCommonName: (name) => issue(name, []),
    close: () => fs.rmSync(folder, { recursive: true, force: true }),
  };
}
