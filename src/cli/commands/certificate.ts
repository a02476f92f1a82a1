// certificate list | renew: the certificates that the daemon gets from an ACME directory (tls.acme), and why one is missing.
import { toTimestamp } from '../../base/clock.ts';
import type { CertificateState } from '../../certificates/certificate-states.ts';
import { directoryUrl } from '../../config/acme-names.ts';
import { done, failed } from '../../operator/answer.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import { statesOfCertificates } from '../../operator/states-of-certificates.ts';
import { storeCommand } from '../command.ts';
import { domainName, flag, positional, remark } from '../option.ts';
import { recordAct } from '../record-act.ts';
import { renderTable } from '../table.ts';

/** The daemon's timer for them. */
const TIMER = 'certificates';

export const certificateList = storeCommand({
  name: 'certificate list',
  summary:
    'Lists the certificates that the daemon gets by itself (tls.acme), until when they are valid, and what failed.',
  options: {},
  async run(services) {
    const states = await statesOf(services);
    if (states === 'off') return failed(OFF);
    const { daemon, config } = services;
    const waitsFor = ({ names, state }: CertificateState) =>
      daemon ? daemon.certificateWaitsFor(names) : state === 'valid' ? null : 'no daemon runs';
    return done({
      directory: directoryUrl(config.tls.acme_directory),
      certificates: states.map((state) => shownState(state, waitsFor(state))),
    });
  },
  render: ({ certificates }) =>
    renderTable(
      certificates,
      [
        { title: 'NAMES', value: ({ names }) => names.join(' ') },
        { title: 'FOR', value: ({ listeners }) => listeners.join(' ') },
        { title: 'STATE', value: ({ state }) => state },
        { title: 'UNTIL', value: ({ not_after }) => not_after },
        { title: 'NEXT ATTEMPT', value: ({ next_attempt_at }) => next_attempt_at },
        { title: 'REMARK', value: ({ remark }) => remark },
      ],
      'No listener needs one: each has files, or a proxy in front.',
    ),
});

export const certificateRenew = storeCommand({
  name: 'certificate renew',
  summary:
    'Gets new certificates now, for example once DNS or port 80 is mended. Directories issue few for the same names per week.',
  options: {
    name: positional(domainName('only certificates with this name')),
    missing: flag('only those that are not valid'),
    reason: remark('TEXT', 'the reason, for the audit log'),
  },
  async run(services, { name, missing, reason }) {
    const states = await statesOf(services);
    if (states === 'off') return failed(OFF);
    const named = states.filter(({ names }) => name === undefined || names.includes(name));
    if (named.length === 0) return failed(notNamed(name, states));
    const chosen = named.filter(({ state }) => !missing || state !== 'valid');
    if (chosen.length === 0) return failed('none is missing: all are valid');
    const { store, config, clock } = services;
    const directory = directoryUrl(config.tls.acme_directory);
    for (const { names } of chosen) {
      await store.certificates.hastenCertificateAttempt({ directory, names: names.join(' ') }, clock.now());
    }
    services.daemon?.hasten(TIMER);
    const names = chosen.map((state) => state.names.join(' '));
    await recordAct(services, null, 'certificate.renewed', { names: names.join('; '), reason });
    return done({ names, daemon_runs: services.daemon !== undefined });
  },
  render: ({ names, daemon_runs: runs }) =>
    `${runs ? 'Ordered now' : 'Ordered when the daemon starts'}: ${names.join('; ')}. postrider certificate list shows the result.`,
});

function notNamed(name: string | undefined, states: readonly CertificateState[]): string {
  if (name === undefined) return 'no listener needs one';
  return `no certificate is for ${name}; there are: ${states.map(({ names }) => names.join(' ')).join('; ')}`;
}

const OFF = 'tls.acme is off, so the daemon gets no certificates; postrider doctor checks those in files';

async function statesOf({ store, clock, config }: OperatorServices): Promise<CertificateState[] | 'off'> {
  return config.tls.acme ? statesOfCertificates(config, { store, clock }) : 'off';
}

export type ShownCertificate = ReturnType<typeof shownState>;

function shownState(state: CertificateState, waitsFor: string | null) {
  const { names, listeners, issuer, failures, lastFailure } = state;
  const failure = lastFailure && { at: toTimestamp(lastFailure.at), reason: lastFailure.reason };
  const at = (moment: number | null) => (moment === null ? null : toTimestamp(moment));
  return {
    names,
    listeners,
    state: state.state,
    issuer,
    not_before: at(state.notBefore),
    not_after: at(state.notAfter),
    next_attempt_at: at(state.nextAttemptAt),
    failures,
    last_failure: failure,
    remark: failure
      ? `failed at ${failure.at}: ${failure.reason}`
      : (waitsFor ?? (state.state === 'none' ? 'the first attempt is being made' : issuer)),
  };
}
