// One mail transaction (RFC 5321 section 3.3) with one recipient, on a connection that has been
// introduced; pipelined where offered (RFC 2920): the next message's commands may go out behind this one's dot.
// What must be known exactly is whether the server may have taken the message: until the final dot
// has been handed to the system it cannot have, from then on only its reply tells, and a loss is ambiguous.
import type { SmtpStage } from '../../base/outcome.ts';
import type { Capabilities } from './capabilities.ts';
import { dotStuff, endOfData } from './dot-stuffing.ts';
import { type Envelope, mailCommand, rcptCommand } from './envelope.ts';
import type { Reply } from './reply.ts';
import type { SmtpTimeouts } from './timeouts.ts';
import type { Loss, Wire } from './wire.ts';

export interface Transaction {
  envelope: Envelope;
  message: Uint8Array;
  capabilities: Capabilities;
  timeouts: SmtpTimeouts;
  /** Whether an earlier transaction must be ended first. */
  reset: boolean;
  /** Whether its commands went out behind the message before it: only their answers are to come. */
  announced: boolean;
  /** Asked as the final dot goes out, where there is pipelining: whose commands are to go out behind it. */
  following(): Envelope | null;
}

export type Verdict =
  | { kind: 'accepted'; stage: SmtpStage; reply: Reply }
  | { kind: 'refused'; stage: SmtpStage; reply: Reply }
  | { kind: 'lost'; stage: SmtpStage; reply: Reply | null; why: string; afterDot: boolean };

/** What one command needs: its text, how long its reply may take, and the first digit that lets us go on. */
interface Step {
  stage: SmtpStage;
  command: string;
  timeoutMs: number;
  expected: 2 | 3;
}

// Large enough for few turns of the event loop, small enough that a slow line moves one
// within the block timeout (730 octets per second with the default).
const BLOCK_OCTETS = 128 * 1024;

export async function runTransaction(wire: Wire, transaction: Transaction): Promise<Verdict> {
  return (await announce(wire, transaction)) ?? (await transmit(wire, transaction));
}

/** RSET, MAIL, RCPT and DATA; null when the server now waits for the message. */
async function announce(wire: Wire, transaction: Transaction): Promise<Verdict | null> {
  const { pipelining } = transaction.capabilities;
  const steps = planSteps(transaction);
  if (pipelining && !transaction.announced) wire.write(joined(steps));

  let verdict: Verdict | null = null;
  for (const step of steps) {
    if (!pipelining) wire.write(step.command);
    const heard = await wire.readReply(step.timeoutMs);
    const mayGoOn = !('lost' in heard) && Math.trunc(heard.code / 100) === step.expected;
    if (mayGoOn && verdict && step.stage === 'data') await endEmptyMessage(wire, transaction.timeouts);
    if (!mayGoOn) verdict ??= judge(wire, step, heard);
    // Commands that are already on their way are answered even after a refusal; those replies
    // must be read, or they would be taken for answers to the next message.
    if (verdict && (!pipelining || wire.loss)) break;
  }
  return verdict;
}

type Announcement = Pick<Transaction, 'envelope' | 'capabilities' | 'timeouts' | 'reset'>;

function planSteps({ envelope, capabilities, timeouts, reset }: Announcement): Step[] {
  const { mailMs, rcptMs, dataMs } = timeouts;
  const steps: Step[] = [
    { stage: 'mail', command: mailCommand(envelope, capabilities), timeoutMs: mailMs, expected: 2 },
    { stage: 'rcpt', command: rcptCommand(envelope), timeoutMs: rcptMs, expected: 2 },
    { stage: 'data', command: 'DATA\r\n', timeoutMs: dataMs, expected: 3 },
  ];
  if (reset) steps.unshift({ stage: 'mail', command: RESET, timeoutMs: mailMs, expected: 2 });
  return steps;
}

const RESET = 'RSET\r\n';

function joined(steps: readonly Step[]): string {
  return steps.map(({ command }) => command).join('');
}

function judge(wire: Wire, step: Step, heard: Reply | Loss): Verdict {
  if ('lost' in heard) return lost(step.stage, heard.lost);
  // A refused RSET says nothing about this message, only that this session is of no more use.
  if (step.command !== RESET && heard.code >= 400) return refused(wire, step.stage, heard);
  return lostToReply(wire, step.stage, heard);
}

/** RFC 2920 section 3.1: DATA was accepted though no recipient was; an empty message ends it. */
async function endEmptyMessage(wire: Wire, timeouts: SmtpTimeouts): Promise<void> {
  wire.write('.\r\n');
  const heard = await wire.readReply(timeouts.dotMs);
  if (!('lost' in heard) && heard.code === 421) wire.lose('the server is closing the session');
}

async function transmit(wire: Wire, transaction: Transaction): Promise<Verdict> {
  const { message, timeouts } = transaction;
  const body = dotStuff(message);
  let sent = 0;
  while (wire.quiet && body.length - sent > BLOCK_OCTETS) {
    await wire.writeBlock(body.subarray(sent, sent + BLOCK_OCTETS), timeouts.dataBlockMs);
    sent += BLOCK_OCTETS;
  }
  // The last look before the point of no return.
  if (!wire.quiet) return await interrupted(wire, timeouts);
  wire.writePair(body.subarray(sent), Buffer.concat([endOfData(message), commandsBehind(transaction)]));

  const heard = await wire.readReply(timeouts.dotMs);
  if ('lost' in heard) return { ...lost('dot', heard.lost), afterDot: true };
  if (heard.code >= 400) return refused(wire, 'dot', heard);
  if (heard.code < 300) return { kind: 'accepted', stage: 'dot', reply: heard };
  return { ...lostToReply(wire, 'dot', heard), afterDot: true };
}

const NOTHING = Buffer.alloc(0);

/** RFC 2920 section 3.1: a message may be the first thing in a group of commands. */
function commandsBehind({ capabilities, timeouts, following }: Transaction): Buffer {
  const envelope = capabilities.pipelining ? following() : null;
  return envelope ? Buffer.from(joined(planSteps({ envelope, capabilities, timeouts, reset: false }))) : NOTHING;
}

/** The server spoke or left before the final dot. The body cannot be taken back: the connection ends here. */
async function interrupted(wire: Wire, timeouts: SmtpTimeouts): Promise<Verdict> {
  const heard = await wire.readReply(timeouts.dataBlockMs);
  if ('lost' in heard) return lost('data', heard.lost);
  const verdict = heard.code >= 400 ? refused(wire, 'data', heard) : lostToReply(wire, 'data', heard);
  wire.lose('interrupted within the message');
  return verdict;
}

function refused(wire: Wire, stage: SmtpStage, reply: Reply): Verdict {
  // RFC 5321 section 3.8: 421 means that the server closes the connection.
  if (reply.code === 421) wire.lose('the server is closing the session');
  return { kind: 'refused', stage, reply };
}

type LostVerdict = Extract<Verdict, { kind: 'lost' }>;

function lost(stage: SmtpStage, why: string): LostVerdict {
  return { kind: 'lost', stage, reply: null, why, afterDot: false };
}

/** A reply that makes no sense here: nobody knows any more what answers what. */
function lostToReply(wire: Wire, stage: SmtpStage, reply: Reply): LostVerdict {
  wire.lose('unexpected reply');
  const sensible = reply.code >= 400;
  const why = sensible ? reply.text : `protocol error: unexpected reply ${reply.code} ${reply.text}`;
  return { kind: 'lost', stage, reply: sensible ? reply : null, why, afterDot: false };
}
