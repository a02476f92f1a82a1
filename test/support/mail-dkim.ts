// Two opinions on signatures, by verifiers that share no code with the signer: mailauth, and Debian's Mail::DKIM.
import { spawnSync } from 'node:child_process';
import { Resolver } from 'node:dns/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';

const SCRIPT = fileURLToPath(new URL('dkim-verify.pl', import.meta.url));
const NOT_INSTALLED = 3;

/**
 * For each mail its overall result, then one per signature; a sentence when it is not installed. The records are by the
 * name that a signature asks for; the folder must be empty.
 */
export function verifyByPerl(
  folder: string,
  mails: readonly Buffer[],
  records: ReadonlyMap<string, string>,
): string[][] | string {
  const keys = join(folder, 'keys');
  writeFileSync(keys, [...records].map((record) => `${record.join(' ')}\n`).join(''));
  const files = mails.map((mail, index) => {
    const file = join(folder, `${index}.eml`);
    writeFileSync(file, mail);
    return file;
  });
  const { error, status, stdout, stderr } = spawnSync('perl', [SCRIPT, keys, ...files], { encoding: 'utf8' });
  if (error) return error.message;
  if (status === NOT_INSTALLED) return stdout.trim();
  if (status !== 0) throw new Error(stderr);
  const results = stdout.trimEnd().split('\n');
  return results.map((line) => line.split('\t'));
}

/** The records that the signatures of a mail name, as DNS has them, by name. */
export async function signingRecords(dns: { endpoint: string }, raw: Buffer): Promise<Map<string, string>> {
  const resolver = new Resolver();
  resolver.setServers([dns.endpoint]);
  const header = raw.toString('latin1', 0, raw.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' ');
  const fields = header.split('\r\n').filter((line) => line.startsWith('DKIM-Signature:'));
  const tag = (field: string, name: string) => new RegExp(`[;:] *${name}=([^; ]+)`).exec(field)?.[1];
  const names = fields.map((field) => `${tag(field, 's')}._domainkey.${tag(field, 'd')}`);
  const records = names.map(async (name): Promise<[string, string]> => {
    const [strings = []] = await resolver.resolveTxt(name);
    return [name, strings.join('')];
  });
  return new Map(await Promise.all(records));
}

/** The result of each signature, in the order of the mail. */
export async function verifyByMailauth(raw: Buffer, records: ReadonlyMap<string, string>): Promise<string[]> {
  const resolver = async (name: string) => [[records.get(name) ?? '']];
  const { results } = await dkimVerify(raw, { resolver: resolver as never });
  return results.map(({ status }) => status.result);
}
