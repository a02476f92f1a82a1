// From the configuration to certificates of a directory (ACME): the port for challenges, and the certificates that the
// listeners take. A part of the wiring list in daemon.ts.

import { readFileSync } from 'node:fs';
import type { ClosingStack } from '../base/closing-stack.ts';
import { describeError } from '../base/errors.ts';
import type { TimerSpec } from '../base/timers.ts';
import type { DirectoryAccount } from '../certificates/acme-order.ts';
import { CertificateKeeper, PERIOD_MS } from '../certificates/certificate-keeper.ts';
import { ChallengeAnswers } from '../certificates/challenge-answers.ts';
import { openChallengePort } from '../certificates/challenge-port.ts';
import { folderForKeys, type HeldPair } from '../certificates/held-pair.ts';
import { type NameLookups, namesWithoutAddress } from '../certificates/names-in-dns.ts';
import { sharedAnswers } from '../certificates/shared-answers.ts';
import { acmeNames, directoryUrl } from '../config/acme-names.ts';
import type { Config } from '../config/keys.ts';
import type { TlsSource } from '../http/tls-files.ts';
import type { Foundation } from './open-foundation.ts';

/** Null: the listener has files, or no TLS. */
export interface Certificates {
  http: TlsSource | null;
  smtp: TlsSource | null;
  timers: TimerSpec[];
  /** What keeps a certificate from being attempted at the moment; null: nothing. */
  waitsFor(names: readonly string[]): string | null;
  /** When each certificate ends; null: it is a temporary one. */
  ends(): { names: string; notAfter: number | null }[];
}

export async function openCertificates(
  config: Config,
  { store, vault, clock, log, folder, lead, nodes }: Foundation,
  lookups: NameLookups,
  opened: ClosingStack,
): Promise<Certificates> {
  const { http, smtp } = acmeNames(config);
  const wanted = [http, smtp].filter((names) => names !== null);
  if (wanted.length === 0) return { http: null, smtp: null, timers: [], waitsFor: () => null, ends: () => [] };
  const account = accountOf(config);
  const answers = new ChallengeAnswers(nodes ? sharedAnswers({ store, vault, directory: account.url }) : undefined);
  const challenge = config.tls.acme_challenge;
  const keeper = await CertificateKeeper.open(
    {
      store,
      vault,
      clock,
      log,
      random: Math.random,
      account,
      challenge,
      answers,
      portProblem: challenge === 'http-01' ? challengePort(config, answers, opened) : async () => null,
      namesWithoutAddress: (names) => namesWithoutAddress(names, lookups),
      // By name, since each daemon has its own name in SMTP, which no other one wants a certificate for.
      lead: (names) => lead({ name: `certificate ${names}`, periodMs: PERIOD_MS }),
      keyFolder: folderForKeys(config.tls.runtime_dir, folder.dir),
    },
    wanted,
  );
  return {
    http: http && withProofs(keeper.source(http), challenge === 'http-01' ? null : answers),
    smtp: smtp && keeper.source(smtp),
    timers: [keeper.timer()],
    waitsFor: (names) => keeper.waitsFor(names),
    ends: () => keeper.ends(),
  };
}

/** `answers`: null if HTTPS does not answer the directory. */
function withProofs(source: HeldPair, answers: ChallengeAnswers | null): TlsSource {
  if (answers === null) return source;
  return {
    read: () => source.read(),
    inFiles: (load) => source.inFiles(load),
    onReplaced: (check) => source.onReplaced(check),
    proofFor: (name) => answers.findCertificate(name),
  };
}

function accountOf({ tls, service }: Config): DirectoryAccount {
  const { acme_eab_kid: kid, acme_eab_key_file: keyFile, acme_root: root } = tls;
  return {
    url: directoryUrl(tls.acme_directory),
    root: root && readFileSync(root, 'utf8'),
    email: tls.acme_email ?? service.operator_address,
    binding: kid && keyFile ? { kid, hmacKey: readFileSync(keyFile, 'utf8').trim() } : null,
  };
}

/** A port that is taken or forbidden does not stop the daemon: mail goes on, and each run of the timer tries again. */
function challengePort({ tls, service }: Config, answers: ChallengeAnswers, opened: ClosingStack) {
  const urls = [service.base_url, service.links_url].map((url) => new URL(url));
  const origins = new Map(
    urls.filter(({ protocol }) => protocol === 'https:').map((url) => [url.hostname, url.origin]),
  );
  const home = origins.get(new URL(service.base_url).hostname) ?? null;
  let isOpen = false;
  return async (): Promise<string | null> => {
    if (isOpen) return null;
    try {
      const port = await openChallengePort({ host: tls.acme_host, port: tls.acme_http_port, answers, origins, home });
      isOpen = true;
      opened.add(() => port.close());
      return null;
    } catch (error) {
      return describeError(error);
    }
  };
}
