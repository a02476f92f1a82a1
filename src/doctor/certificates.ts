// The certificates that clients see: the files of the HTTP and SMTP listeners or, where a proxy
// terminates TLS, the certificate served at the API's public address.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { connect } from 'node:tls';
import { DAY_MS, SECOND_MS, toTimestamp } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { judgeSharedNames, judgeStored } from './directory-certificates.ts';
import type { DoctorKit, TlsFilePair } from './doctor-settings.ts';
import { type Finding, fine, type Remedy, warning, wrong } from './finding.ts';

export interface CertificateFacts {
  /** PEM or DER. */
  certificate: Buffer;
  /** PEM; null: behind a proxy, where we can't read it. */
  key: Buffer | null;
  /** The host name that clients connect to. */
  host: string;
}

// ACME clients renew 30 days before expiry: at half of that, renewal has failed repeatedly.
const SOON_MS = 14 * DAY_MS;
const HANDSHAKE_MS = 8 * SECOND_MS;

export async function checkCertificates(kit: DoctorKit): Promise<Finding[]> {
  const { submissionTls, ehloName } = kit.settings;
  const ofSubmission = { check: 'submission certificate', host: ehloName };
  const submission = submissionTls ? [await ofFiles(kit, { ...ofSubmission, files: submissionTls })] : [];
  return [await ofHttp(kit), ...(await ofSharedNames(kit)), await ofSmtp(kit), ...submission];
}

/** The directory comes to any of the daemons that the names lead to. */
async function ofSharedNames({ settings: { acme }, server }: DoctorKit): Promise<Finding[]> {
  if (acme.http === null || acme.challenge === 'http-01') return [];
  const answer = await server();
  return answer?.kind === 'answer' ? judgeSharedNames(acme.http, answer.facts.nodes) : [];
}

async function ofSmtp(kit: DoctorKit): Promise<Finding> {
  const { smtpTls, ehloName, acme } = kit.settings;
  const check = 'SMTP certificate';
  if (smtpTls) return ofFiles(kit, { check, files: smtpTls, host: ehloName });
  if (acme.smtp) return ofDirectory(kit, check, acme.smtp);
  return warning({ check, subject: ehloName }, 'bounces are received without TLS', {
    setting: 'smtp.tls_cert and smtp.tls_key, or tls.acme',
  });
}

async function ofDirectory(kit: DoctorKit, check: string, names: readonly string[]): Promise<Finding> {
  const [all, daemon] = await Promise.all([kit.certificates(), kit.daemon()]);
  const stored = all.find((one) => one.names === names.join(' ')) ?? null;
  return judgeStored({ check, subject: names.join(', ') }, stored, { daemon, now: kit.now() });
}

async function ofHttp(kit: DoctorKit): Promise<Finding> {
  const { httpTls, baseUrl, acme } = kit.settings;
  const base = new URL(baseUrl);
  if (httpTls) return ofFiles(kit, { check: 'HTTP certificate', files: httpTls, host: base.hostname });
  if (acme.http) return ofDirectory(kit, 'HTTP certificate', acme.http);
  if (base.protocol === 'https:') return ofProxy(kit, base);
  return warning({ check: 'HTTP certificate', subject: base.host }, 'the API is called without TLS', {
    setting:
      'http.tls_cert and http.tls_key, or tls.acme, or service.base_url = "https://…" behind a proxy that speaks TLS',
  });
}

interface FilesToCheck {
  check: string;
  files: TlsFilePair;
  host: string;
}

async function ofFiles(kit: DoctorKit, { check, files, host }: FilesToCheck): Promise<Finding> {
  const about = { check, subject: files.certFile };
  try {
    const [certificate, key] = await Promise.all([readFile(files.certFile), readFile(files.keyFile)]);
    return judgeCertificate(about, { certificate, key, host }, kit.now());
  } catch (error) {
    return wrong(about, `cannot be read: ${describeError(error)}`);
  }
}

async function ofProxy(kit: DoctorKit, base: URL): Promise<Finding> {
  const about = { check: 'HTTP certificate', subject: base.host };
  const host = base.hostname;
  const results = await Promise.all([kit.resolver.a(host), kit.resolver.aaaa(host)]);
  const ip = results.flatMap((result) => (result.kind === 'found' ? result.records : []))[0];
  if (ip === undefined) return warning(about, `couldn't be checked: ${host} has no address`);
  const seen = await handshake(host, ip, Number(base.port) || 443);
  if (typeof seen === 'string') return warning(about, `couldn't be checked from this machine: ${seen}`);
  return judgeCertificate(about, { certificate: seen, key: null, host }, kit.now());
}

/** The server's certificate, not validated, or why there is none. */
function handshake(servername: string, host: string, port: number): Promise<Buffer | string> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, servername, rejectUnauthorized: false }, () => {
      settle(socket.getPeerCertificate().raw ?? 'no certificate');
    });
    const settle = (result: Buffer | string) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(result);
    };
    const timer = setTimeout(() => settle('no answer in time'), HANDSHAKE_MS);
    socket.on('error', (error) => settle(describeError(error)));
  });
}

export function judgeCertificate(
  about: Pick<Finding, 'check' | 'subject'>,
  { certificate, key, host }: CertificateFacts,
  now: number,
): Finding {
  let parsed: X509Certificate;
  try {
    parsed = new X509Certificate(certificate);
    if (key && !parsed.checkPrivateKey(createPrivateKey(key))) return wrong(about, 'does not belong to its key');
  } catch (error) {
    return wrong(about, `is not usable: ${describeError(error)}`);
  }
  const renew: Remedy = { command: 'certbot renew (or your ACME client): changed files are reloaded automatically' };
  const endsAt = Date.parse(parsed.validTo);
  const until = toTimestamp(endsAt);
  if (Date.parse(parsed.validFrom) > now) return wrong(about, `is not valid before ${parsed.validFrom}`);
  if (endsAt <= now) return wrong(about, `expired at ${until}`, renew);
  if (endsAt - now < SOON_MS) return warning(about, `expires at ${until}`, renew);
  const named = isIP(host) === 0 ? parsed.checkHost(host) : parsed.checkIP(host);
  if (named === undefined) {
    return warning(about, `is valid until ${until}, but not for ${host}`, { advice: `get a certificate for ${host}` });
  }
  return fine(about, `is valid until ${until}`);
}
