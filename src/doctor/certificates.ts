// The certificates that clients see: the files of the HTTP and SMTP listeners or, where a proxy
// terminates TLS, those served at the public addresses of API and links.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { DAY_MS, toTimestamp } from '../base/clock.ts';
import { describeError } from '../base/errors.ts';
import { distrustOfPair, handshake } from './certificate-trust.ts';
import { judgeSharedNames, judgeStored } from './directory-certificates.ts';
import type { DoctorKit, TlsFilePair } from './doctor-settings.ts';
import { type Finding, fine, type Remedy, warning, wrong } from './finding.ts';

export interface CertificateFacts {
  /** PEM or DER. */
  certificate: Buffer;
  /** PEM; null: behind a proxy, where we can't read it. */
  key: Buffer | null;
  /** The host names that clients connect to. */
  hosts: readonly string[];
}

// ACME clients renew 30 days before expiry: at half of that, renewal has failed repeatedly.
const SOON_MS = 14 * DAY_MS;

export async function checkCertificates(kit: DoctorKit): Promise<Finding[]> {
  const { submissionTls, ehloName } = kit.settings;
  const ofSubmission = { check: 'submission certificate', hosts: [ehloName], isVerified: true };
  const submission = submissionTls ? [await ofFiles(kit, { ...ofSubmission, files: submissionTls })] : [];
  return [...(await ofHttp(kit)), ...(await ofSharedNames(kit)), await ofSmtp(kit), ...submission];
}

/** The directory comes to any of the daemons that the names lead to. */
async function ofSharedNames({ settings: { acme }, server }: DoctorKit): Promise<Finding[]> {
  if (acme.http === null || acme.challenge === 'http-01') return [];
  const answer = await server();
  return answer?.kind === 'answer' ? judgeSharedNames(acme.http, answer.facts.nodes) : [];
}

async function ofSmtp(kit: DoctorKit): Promise<Finding> {
  const { smtpTls, ehloName, acme, isSubmissionOn, submissionTls } = kit.settings;
  // Mail servers use TLS without verifying it (RFC 3207); programs that submit mail verify.
  const about = { check: 'SMTP certificate', isVerified: isSubmissionOn && submissionTls === null };
  if (smtpTls) return ofFiles(kit, { ...about, files: smtpTls, hosts: [ehloName] });
  if (acme.smtp) return ofDirectory(kit, about, acme.smtp);
  return warning({ check: about.check, subject: ehloName }, 'bounces are received without TLS', {
    setting: 'smtp.tls_cert and smtp.tls_key, or tls.acme',
  });
}

interface ToCheck {
  check: string;
  /** Whether clients reject one that they do not trust. */
  isVerified: boolean;
}

async function ofDirectory(kit: DoctorKit, { check, isVerified }: ToCheck, names: readonly string[]): Promise<Finding> {
  const [all, daemon] = await Promise.all([kit.certificates(), kit.daemon()]);
  const stored = all.find((one) => one.names === names.join(' ')) ?? null;
  const finding = judgeStored({ check, subject: names.join(', ') }, stored, { daemon, now: kit.now() });
  const remedy = { setting: 'tls.acme_directory = "production"' };
  const isDistrusted = isVerified && kit.settings.acme.isStaging && finding.health !== 'fail';
  return isDistrusted ? rejected(finding, "it is from Let's Encrypt's staging directory", remedy) : finding;
}

function rejected(finding: Finding, why: string, remedy: Remedy): Finding {
  return warning(finding, `${finding.message}; clients reject it: ${why}`, remedy);
}

/** API and links share a listener, but not necessarily a proxy. */
async function ofHttp(kit: DoctorKit): Promise<Finding[]> {
  const { httpTls, baseUrl, linksUrl, acme } = kit.settings;
  const about = { check: 'HTTP certificate', isVerified: true };
  const [base, links] = [new URL(baseUrl), new URL(linksUrl)];
  const secure = [base, links].filter(({ protocol }) => protocol === 'https:');
  if (httpTls) {
    const hosts = [...new Set([base, ...secure].map(({ hostname }) => hostname))];
    return [await ofFiles(kit, { ...about, files: httpTls, hosts })];
  }
  if (acme.http) return [await ofDirectory(kit, about, acme.http)];
  const different = secure.filter(({ host }, index) => secure.findIndex((one) => one.host === host) === index);
  const findings = await Promise.all(different.map((url) => ofProxy(kit, url)));
  return base.protocol === 'https:' ? findings : [withoutTls(base), ...findings];
}

function withoutTls({ host }: URL): Finding {
  return warning({ check: 'HTTP certificate', subject: host }, 'the API is called without TLS', {
    setting:
      'http.tls_cert and http.tls_key, or tls.acme, or service.base_url = "https://…" behind a proxy that speaks TLS',
  });
}

interface FilesToCheck extends ToCheck {
  files: TlsFilePair;
  hosts: readonly string[];
}

const WHOLE_CHAIN: Remedy = {
  advice:
    'get one from a certificate authority that clients trust, and serve it with its intermediates (fullchain.pem)',
};

async function ofFiles(kit: DoctorKit, { check, isVerified, files, hosts }: FilesToCheck): Promise<Finding> {
  const about = { check, subject: files.certFile };
  try {
    const [certificate, key] = await Promise.all([readFile(files.certFile), readFile(files.keyFile)]);
    const finding = judgeCertificate(about, { certificate, key, hosts }, kit.now());
    const distrust = isVerified && finding.health !== 'fail' ? await distrustOfPair(certificate, key, kit) : null;
    return distrust === null ? finding : rejected(finding, distrust, WHOLE_CHAIN);
  } catch (error) {
    return wrong(about, `cannot be read: ${describeError(error)}`);
  }
}

async function ofProxy(kit: DoctorKit, url: URL): Promise<Finding> {
  const about = { check: 'HTTP certificate', subject: url.host };
  const host = url.hostname;
  const results = await Promise.all([kit.resolver.a(host), kit.resolver.aaaa(host)]);
  const ip = results.flatMap((result) => (result.kind === 'found' ? result.records : []))[0];
  if (ip === undefined) return warning(about, `couldn't be checked: ${host} has no address`);
  const seen = await handshake({ host: ip, port: Number(url.port) || 443, servername: host }, kit);
  if (typeof seen === 'string') return warning(about, `couldn't be checked from this machine: ${seen}`);
  const finding = judgeCertificate(about, { certificate: seen.certificate, key: null, hosts: [host] }, kit.now());
  return finding.health !== 'fail' && seen.distrust !== null ? rejected(finding, seen.distrust, WHOLE_CHAIN) : finding;
}

export function judgeCertificate(
  about: Pick<Finding, 'check' | 'subject'>,
  { certificate, key, hosts }: CertificateFacts,
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
  const others = hosts.filter((host) => !isNamed(parsed, host));
  if (others.length > 0) {
    const names = others.join(' and ');
    return warning(about, `is valid until ${until}, but not for ${names}`, {
      advice: `get a certificate for ${hosts.join(' and ')}`,
    });
  }
  return fine(about, `is valid until ${until}`);
}

function isNamed(certificate: X509Certificate, host: string): boolean {
  return (isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host)) !== undefined;
}
