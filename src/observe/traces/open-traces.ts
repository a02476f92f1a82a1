// Traces of messages (OpenTelemetry), when they are on. Loaded only then: `traces.endpoint` is set.
import type { Logger } from '../log.ts';
import { TraceExporter } from './exporter.ts';
import { MailTraces, type Selection } from './mail-traces.ts';

export interface TracesOptions extends Selection {
  /** The receiver's origin, with or without a path before `/v1/traces`. */
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  version: string;
  log: Pick<Logger, 'warn'>;
  random(): number;
  onExported(spans: number): void;
  onDropped(spans: number): void;
}

export interface Traces {
  mails: MailTraces;
  /** Sends what is left, for so long at the most. */
  close(graceMs: number): Promise<void>;
}

export function openTraces(options: TracesOptions): Traces {
  const { endpoint, headers, serviceName, version, log, random, onExported, onDropped } = options;
  const exporter = new TraceExporter({
    url: `${endpoint}/v1/traces`,
    headers,
    resource: { 'service.name': serviceName, 'service.version': version },
    version,
    log,
    random,
    onExported,
    onDropped,
  });
  const { share, followsCallers } = options;
  const mails = new MailTraces(exporter, { share, followsCallers });
  return { mails, close: (graceMs) => exporter.close(graceMs) };
}
