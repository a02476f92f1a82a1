// From the configuration to the SMTP door for applications. A part of the wiring list in daemon.ts.

import type { ClosingStack } from '../base/closing-stack.ts';
import type { Config } from '../config/keys.ts';
import type { TlsFiles, TlsSource } from '../http/tls-files.ts';
import { LISTENER_GRACE_SHARE } from '../smtp-listener/open-sessions.ts';
import { type DoorOptions, type SubmissionListener, startSubmissionListener } from '../submission/door/listener.ts';
import type { Foundation } from './open-foundation.ts';
import { requestCap } from './open-http.ts';

const MIB = 1024 * 1024;

/** Ports are null: off. */
type OpenDoor = Pick<SubmissionListener, 'port' | 'tlsPort' | 'openConnections'>;

interface DoorParts extends Pick<DoorOptions, 'takeMail'> {
  sandbox: (Pick<DoorOptions, 'host'> & Required<Pick<DoorOptions, 'staysUsable'>>) | undefined;
  /** The inbound listener's certificate, if that is not in files. */
  tls: TlsSource | null;
}

/** A mail counts as one call of its key. */
export async function openDoor(
  config: Config,
  { store, clock, log, intake, keyUses, rates, metrics }: Foundation,
  { takeMail, sandbox, tls: source }: DoorParts,
  opened: ClosingStack,
): Promise<OpenDoor> {
  const { submission, service, stop } = config;
  if (submission.port === 0 && submission.tls_port === 0)
    return { port: null, tlsPort: null, openConnections: () => 0 };
  const tls = certificateOf(config) ?? source;
  const listener = await startSubmissionListener({
    host: sandbox?.host ?? submission.host,
    port: submission.port || null,
    tlsPort: submission.tls_port || null,
    name: service.ehlo_name,
    graceMs: stop.grace * LISTENER_GRACE_SHARE,
    ...(tls && { tls }),
    limits: {
      maxBytes: submission.max_mail_mib * MIB,
      connections: submission.connections,
      connectionsPerPeer: submission.connections_per_peer,
      connectionsPerKey: submission.connections_per_key,
    },
    store,
    takeCall: (keyId, tier) => rates.take(keyId, requestCap(config, tier)),
    keyUsed: keyUses.note,
    refusal: () => intake.state.reason,
    takeMail,
    ...(metrics && { count: (step, outcome) => metrics.submission(step, outcome) }),
    ...(sandbox && { staysUsable: sandbox.staysUsable, keysInClear: true }),
    clock,
    log,
  });
  opened.add(() => listener.close());
  return listener;
}

/** Its own, or that of the inbound listener. */
function certificateOf({ submission, smtp }: Config): TlsFiles | null {
  const { tls_cert: certFile, tls_key: keyFile } = submission.tls_cert ? submission : smtp;
  return certFile && keyFile ? { certFile, keyFile } : null;
}

/** For the log; nothing while the door is closed. */
export function portsToLog({ port, tlsPort }: OpenDoor): Record<string, number> {
  return { ...(port !== null && { submission_port: port }), ...(tlsPort !== null && { submission_tls_port: tlsPort }) };
}
