// What Postfix does on the same machine: SMTP in, SMTP out to the same sink, bare and with OpenDKIM as
// a milter. The time runs from the first message sent to it until the last one is at the sink.
import fs from 'node:fs';
import path from 'node:path';
import { monotonicMs } from '../monotonic.ts';
import { postfixMissing, startPostfix } from '../postfix.ts';
import type { RunContext } from '../run-context.ts';
import { startSink } from '../sinks.ts';
import { sendWithSmtpSource } from '../smtp-source.ts';
import { factRow, type Row, rateRow, showRate } from '../table.ts';
import { drain } from '../traffic.ts';

/** The sample mail as it is composed, before it is signed. */
const MESSAGE_BYTES = 3500;
const CONNECTIONS = 50;
const WARM_UP_MESSAGES = 300;
/** Some ten seconds of what such machines do. */
const MESSAGES = 6000;

export async function measurePostfix(run: RunContext): Promise<Row[]> {
  const missing = postfixMissing(false);
  if (missing !== null) return [factRow('Postfix, SMTP in and out', 'not measured', {}, missing)];
  const bare = await measure(run, false);
  const signingMissing = postfixMissing(true);
  const signing = signingMissing === null ? await measure(run, true) : null;
  run.postfix = { bare, signing };
  return [
    rateRow('Postfix, SMTP in and out', bare, `${MESSAGES.toLocaleString('en')} messages, ${CONNECTIONS} connections`),
    signing === null
      ? factRow('Postfix with OpenDKIM', 'not measured', {}, signingMissing ?? '')
      : rateRow('Postfix with OpenDKIM', signing, `RSA-2048, Unix socket; bare ${showRate(bare)}`),
  ];
}

async function measure(run: RunContext, signing: boolean): Promise<number> {
  const folder = path.join(run.folder, signing ? 'postfix-signing' : 'postfix');
  fs.mkdirSync(folder, { recursive: true });
  const sink = await startSink({ kind: 'own', folder: run.folder });
  try {
    const postfix = await startPostfix({ folder, sinkPort: sink.smtpPort, signing });
    try {
      const to = { port: postfix.smtpPort, connections: CONNECTIONS, messageBytes: MESSAGE_BYTES };
      await sendWithSmtpSource({ ...to, messages: WARM_UP_MESSAGES });
      await drain(sink, WARM_UP_MESSAGES);
      const startedAtMs = monotonicMs();
      await sendWithSmtpSource({ ...to, messages: MESSAGES });
      const arrived = await drain(sink, WARM_UP_MESSAGES + MESSAGES);
      return ((arrived - WARM_UP_MESSAGES) * 1000) / (monotonicMs() - startedAtMs);
    } finally {
      await postfix.stop();
    }
  } finally {
    await sink.stop();
  }
}
