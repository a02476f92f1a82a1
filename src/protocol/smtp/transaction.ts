// One mail transaction (RFC 5321 section 3.3) with one recipient, after the introduction; pipelined where offered (RFC
// 2920): the next message's commands may be sent after this one's dot. It must be exact about whether the server may
// have accepted the message: until the final dot is passed to the system it cannot have, after that only its reply
// tells, and a loss is ambiguous.
import { describeError, Fault } from '../../base/errors.ts';
import type { SmtpStage } from '../../base/outcome.ts';
import type { Capabilities } from './capabilities.ts';
import { dotStuff, endOfData } from './dot-stuffing.ts';
import { type Envelope, mailCommand, rcptCommand } from './envelope.ts';
import type { Reply } from './reply.ts';
import type { SmtpTimeouts } from './timeouts.ts';
import type { Loss, Wire } from './wire.ts';

/** What follows a message and is read while it is sent, since it is too large to be held. */
export interface MessagePieces {
  sizeBytes: number;
  /**
   * In order; a line may go over several. A piece is done with when the one after the next is asked for. If it throws, no
   * final dot is sent, and the connection is closed.
   */
  read(): AsyncIterable<Uint8Array>;
}

export interface Transaction {
  envelope: Envelope;
  message: Uint8Array;
  /** Follows the message, which then ends with a line break. */
  tail?: Uint8Array;
  /** Instead of a tail. */
  pieces?: MessagePieces;
  capabilities: Capabilities;
  timeouts: SmtpTimeouts;
  /** Whether an earlier transaction must be ended first. */
  reset: boolean;
  /** Whether its commands were pipelined after the previous message: only their replies are outstanding. */
  announced: boolean;
  /** Called when the final dot is sent, with pipelining: returns the message whose commands are sent after it. */
  following(): Envelope | null;
  /** Called when a stage is over. */
  onStage?: ((stage: SmtpStage) => void) | undefined;
  /** Asked before the final dot. False: it is not sent, and the connection is closed. */
  mayEnd?: (() => boolean) | undefined;
}

export type Verdict =
  | { kind: 'accepted'; stage: SmtpStage; reply: Reply }
  | { kind: 'refused'; stage: SmtpStage; reply: Reply }
  | { kind: 'lost'; stage: SmtpStage; reply: Reply | null; why: string; afterDot: boolean };

/** One command: its text, its timeout, and the first digit of a reply that allows to go on. */
interface Step {
  stage: SmtpStage;
  command: string;
  timeoutMs: number;
  expected: 2 | 3;
}

// Large enough for few turns of the event loop, small enough that a slow connection transfers one within the block
// timeout (730 bytes per second with the default).
const BLOCK_BYTES = 128 * 1024;

/** Rejects with a permanent fault of reading the pieces; the connection is lost then. */
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
    const received = await wire.readReply(step.timeoutMs);
    if (!('lost' in received)) transaction.onStage?.(step.stage);
    const mayGoOn = !('lost' in received) && Math.trunc(received.code / 100) === step.expected;
    if (mayGoOn && verdict && step.stage === 'data') await endEmptyMessage(wire, transaction.timeouts);
    if (!mayGoOn) verdict ??= judge(wire, step, received);
    // Commands already sent are answered even after a rejection; those replies must be read, or they would be taken for
    // replies to the next message.
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

function judge(wire: Wire, step: Step, received: Reply | Loss): Verdict {
  if ('lost' in received) return lost(step.stage, received.lost);
  // A rejected RSET says nothing about this message, only that this session is unusable.
  if (step.command !== RESET && received.code >= 400) return refused(wire, step.stage, received);
  return lostToReply(wire, step.stage, received);
}

/** RFC 2920 section 3.1: DATA was accepted although no recipient was; an empty message ends it. */
async function endEmptyMessage(wire: Wire, timeouts: SmtpTimeouts): Promise<void> {
  wire.write('.\r\n');
  const received = await wire.readReply(timeouts.dotMs);
  if (!('lost' in received) && received.code === 421) wire.lose('the server is closing the session');
}

async function transmit(wire: Wire, transaction: Transaction): Promise<Verdict> {
  const { message, tail, pieces, timeouts } = transaction;
  let rest = dotStuff(message);
  let end = endOfData(tail ?? message);
  if (tail) {
    rest = await writeBlocks(wire, rest, timeouts);
    await wire.writeBlock(rest, timeouts.dataBlockMs);
    rest = dotStuff(tail);
  }
  rest = await writeBlocks(wire, rest, timeouts);
  if (pieces) {
    const written = await writePieces(wire, pieces, { rest, timeouts });
    if ('kind' in written) return written;
    ({ rest, end } = written);
  }
  // The last checks before the message may be accepted.
  if (!wire.quiet) return await interrupted(wire, timeouts);
  if (transaction.mayEnd && !transaction.mayEnd()) {
    wire.lose(FENCED_OFF);
    return lost('data', FENCED_OFF);
  }
  wire.writePair(rest, Buffer.concat([end, commandsBehind(transaction)]));

  const received = await wire.readReply(timeouts.dotMs);
  if ('lost' in received) return { ...lost('dot', received.lost), afterDot: true };
  transaction.onStage?.('dot');
  if (received.code >= 400) return refused(wire, 'dot', received);
  if (received.code < 300) return { kind: 'accepted', stage: 'dot', reply: received };
  return { ...lostToReply(wire, 'dot', received), afterDot: true };
}

/** Returns what is left for the last write. */
async function writeBlocks(wire: Wire, bytes: Buffer, timeouts: SmtpTimeouts): Promise<Buffer> {
  let sent = 0;
  while (wire.quiet && bytes.length - sent > BLOCK_BYTES) {
    await wire.writeBlock(bytes.subarray(sent, sent + BLOCK_BYTES), timeouts.dataBlockMs);
    sent += BLOCK_BYTES;
  }
  return bytes.subarray(sent);
}

/** Returns what is left for the last write. No more than two pieces are held at a time. */
async function writePieces(
  wire: Wire,
  pieces: MessagePieces,
  before: { rest: Buffer; timeouts: SmtpTimeouts },
): Promise<{ rest: Buffer; end: Buffer } | LostVerdict> {
  const { timeouts } = before;
  let { rest } = before;
  let lastOctets: Uint8Array = NOTHING;
  try {
    for await (const piece of pieces.read()) {
      await wire.writeBlock(rest, timeouts.dataBlockMs);
      if (!wire.quiet) break;
      const onNewLine = lastOctets.length === 0 || lastOctets.at(-1) === LF;
      rest = await writeBlocks(wire, dotStuff(piece, onNewLine), timeouts);
      lastOctets = Buffer.concat([lastOctets, piece.subarray(-2)]).subarray(-2);
    }
  } catch (error) {
    // Without its end the message is withdrawn: a server must not accept a part of it.
    const why = `the rest of the message cannot be read: ${describeError(error)}`;
    wire.lose(why);
    if (error instanceof Fault && error.permanence === 'permanent') throw error;
    return lost('data', why);
  }
  return { rest, end: endOfData(lastOctets) };
}

const LF = 0x0a;
const NOTHING = Buffer.alloc(0);

/** RFC 2920 section 3.1: a message may be the first thing in a group of commands. */
function commandsBehind({ capabilities, timeouts, following }: Transaction): Buffer {
  const envelope = capabilities.pipelining ? following() : null;
  return envelope ? Buffer.from(joined(planSteps({ envelope, capabilities, timeouts, reset: false }))) : NOTHING;
}

/** The server replied or disconnected before the final dot. The body cannot be withdrawn: the connection ends here. */
async function interrupted(wire: Wire, timeouts: SmtpTimeouts): Promise<Verdict> {
  const received = await wire.readReply(timeouts.dataBlockMs);
  if ('lost' in received) return lost('data', received.lost);
  const verdict = received.code >= 400 ? refused(wire, 'data', received) : lostToReply(wire, 'data', received);
  wire.lose('interrupted within the message');
  return verdict;
}

function refused(wire: Wire, stage: SmtpStage, reply: Reply): Verdict {
  // RFC 5321 section 3.8: 421 means that the server closes the connection.
  if (reply.code === 421) wire.lose('the server is closing the session');
  return { kind: 'refused', stage, reply };
}

const FENCED_OFF = 'it was broken off: another daemon may have taken the message over, and may send it';

type LostVerdict = Extract<Verdict, { kind: 'lost' }>;

function lost(stage: SmtpStage, why: string): LostVerdict {
  return { kind: 'lost', stage, reply: null, why, afterDot: false };
}

/** An unexpected reply: it is unknown which reply belongs to which command. */
function lostToReply(wire: Wire, stage: SmtpStage, reply: Reply): LostVerdict {
  wire.lose('unexpected reply');
  const sensible = reply.code >= 400;
  const why = sensible ? reply.text : `protocol error: unexpected reply ${reply.code} ${reply.text}`;
  return { kind: 'lost', stage, reply: sensible ? reply : null, why, afterDot: false };
}
