// Twenty applications hand in 25 MiB each at the same moment, and all of it goes out while it comes in: the daemon holds
// pieces of them, never the mails.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { DoorClient, findDoorAddress, submissionIdIn } from '../../support/door-client.ts';
import { isUnbroken, sealedMail } from '../../support/sealed-mail.ts';
import { RECEIVER, registerSender, startWorld } from '../../support/world.ts';

const CONNECTIONS = 20;
const MAIL_BYTES = 25 * 1024 * 1024;
const HEADER_BYTES = 1000;
/** In and out at once; 120 are usual, and half of what the mails have. Collectors let garbage pile up in each of the threads. */
const MOST_ABOVE_IDLE_MIB = 250;

t.test('large mail needs little memory', async (t) => {
  const settings = { ...(await findDoorAddress()), delivery: { connections_per_destination: CONNECTIONS } };
  const { dns, sink, postrider } = await startWorld(t, { settings });
  const daemon = await postrider.serve();
  const sender = await registerSender({ dns, postrider }, daemon);
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, () => DoorClient.signIn(settings.submission, sender.key)),
  );
  const idle = mostMemoryMib(daemon.pid);
  const from = `app@${sender.domain}`;
  const raw = sealedMail({ from, subject: 'Large', idempotencyKey: null, bytes: MAIL_BYTES - HEADER_BYTES });
  const replies = await Promise.all(
    clients.map((client, index) => client.hand({ to: [`to${index}@${RECEIVER}`], raw })),
  );
  for (const client of clients) client.close();
  t.equal(new Set(replies.map(submissionIdIn)).size, CONNECTIONS, 'each is taken');
  const mails = await sink.received(CONNECTIONS);
  t.ok(
    mails.every((mail) => isUnbroken(mail.raw)),
    'and arrives whole',
  );
  const above = mostMemoryMib(daemon.pid) - idle;
  t.ok(above < MOST_ABOVE_IDLE_MIB, `note: at most ${above.toFixed(0)} MiB more than at the start`);
});

function mostMemoryMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
}
