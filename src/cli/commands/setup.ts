// setup: from a bare machine to a service that sends mail. Run again, it adds only what is missing.
import { done } from '../../operator/answer.ts';
import { EXIT_SOMETHING_WRONG, localCommand } from '../command.ts';
import { domainName, flag, ipAddresses, label, mailAddress, oneOf } from '../option.ts';
import { firstCall } from '../setup/first-call.ts';
import { HTTPS_CHOICES } from '../setup/https.ts';
import type { SetupResult } from '../setup/run-setup.ts';
import { runWhereTheWriterIs } from '../with-services.ts';
import type { ShownCertificate } from './certificate.ts';
import { domainVerify } from './domain.ts';

export const setup = localCommand({
  name: 'setup',
  summary:
    'Sets this machine up, asking on a terminal: configuration, user, unit, first login, tenant, domain, key, and DNS records.',
  options: {
    host: domainName('the name of this machine, for API, portal and SMTP'),
    bounces: domainName('the domain of return paths; default: bounces. before the host name'),
    operator: mailAddress('your address: for mail to postmaster and abuse, and as your login'),
    address: ipAddresses('IP[,IP]', 'the public addresses to send from; default: those of this machine'),
    domain: domainName('the first sending domain; default: the zone of the host name'),
    tenant: label('NAME', 'the tenant that gets the domain; default: named like it'),
    https: oneOf(
      'WHO',
      HTTPS_CHOICES,
      "who speaks HTTPS: this daemon, with certificates from Let's Encrypt, or a proxy",
    ),
    yes: flag('ask nothing: take the defaults, and go on when a check fails'),
    wait: flag('wait until all DNS records are right, as on a terminal without --yes'),
  },
  configSummary:
    'the file to write (default: /etc/postrider/postrider.toml); with another one, user, unit and daemon are left alone',
  async run(context, given) {
    const { runSetup } = await import('../setup/run-setup.ts');
    const result = await runSetup(context, given);
    if ('kind' in result) return result;
    const { records, loaded, accounts } = result;
    const { certificateWords, firstCertificates } = await import('./first-certificates.ts');
    const certificates = await firstCertificates(context, { loaded, signal: result.waiting });
    if (certificates && !context.json) context.print(`\n${certificateWords(certificates)}`);
    const { domain, tenant } = accounts;
    let isVerified = false;
    if (domain && tenant) {
      const raw = { domain: domain.name, tenant: tenant.id };
      const verified = await runWhereTheWriterIs(domainVerify, raw, {
        config: loaded.config,
        say: context.complain,
      });
      isVerified = verified.kind === 'done' && (verified.result as { state: string }).state === 'verified';
    }
    const areRight = records.every(({ state }) => state === 'right');
    return {
      ...done({ ...result, certificates, isVerified, areRight }),
      ...(!areRight && { exit: EXIT_SOMETHING_WRONG }),
    };
  },
  render: lastWords,
  toJson: ({ file, written, findings, accounts, records, certificates, notes, areRight, isVerified, zone }) => ({
    config: { file, written },
    findings,
    ...accounts,
    verified: isVerified,
    records: records.map(({ zone: _, ...record }) => record),
    records_right: areRight,
    certificates,
    zone,
    notes,
  }),
});

interface SetupEnd extends SetupResult {
  /** Null: the daemon gets none. */
  certificates: ShownCertificate[] | null;
  isVerified: boolean;
  areRight: boolean;
}

function lastWords(result: SetupEnd): string {
  const { accounts, answers, loaded, notes, areRight, isVerified } = result;
  const { domain, key } = accounts;
  const to = answers.operator ?? 'you@example.org';
  const call = domain && firstCall(loaded.config, { from: domain.name, to, key });
  const waits = areRight
    ? []
    : ['', 'Not all records are right yet. postrider dns --wait checks again until they are.'];
  const when = isVerified ? 'Send the first mail:' : `As soon as the DKIM record is there, send the first mail:`;
  const verify = isVerified || !domain ? [] : [`postrider domain verify ${domain.name}`];
  return [
    ...waits,
    ...notes.flatMap((note) => ['', note]),
    ...(call ? ['', when, '', ...verify, call] : []),
    ...(call && key === null ? ['', 'YOUR_KEY is an API key of the tenant.'] : []),
  ]
    .join('\n')
    .replace(/^\n/, '');
}
