// What a chaos run asks of a store, so that another one can take SQLite's place: what a killed daemon left, what
// a power cut would leave, and all facts at the end. Only the tests' own reading of it, none of the product's code.
import type { CutResult } from './power-cut.ts';

export interface StoreUnderTest {
  readonly name: string;
  /** False: power cuts are left out, they are plain kills. */
  readonly cutsPower: boolean;
  /** Before each start of a daemon. */
  prepareStart(): void;
  /** Settles when a checkpoint is being written, or when the signal says that it was waited for long enough. */
  checkpointBegins(signal: AbortSignal): Promise<void>;
  /** Of a daemon that is dead. */
  cutPower(survives: number, random: () => number): CutResult;
  /** What the next daemon will find. `arrived`: messages that came to the receiver in the dead daemon's life. */
  lookAfterKill(arrived: Iterable<string>, thorough: boolean): AfterKill;
  /** What is still under way, beside the living daemon. */
  openWork(): OpenWork;
  /** While no daemon runs: what waits for a retry of a webhook is due now. */
  hastenWebhooks(): void;
  /** While no daemon runs. */
  facts(tenantId: string): Facts;
}

export interface AfterKill {
  /** Ids of messages in hand at the kill: being sent, or arrived and not recorded so. */
  inFlight: Set<string>;
  /** Null: nothing is wrong, or it was not looked. */
  damage: string | null;
}

export interface OpenWork {
  messages: number;
  inbound: number;
  webhookDeliveries: number;
}

export interface StoredMessage {
  id: string;
  submissionId: string;
  recipient: string;
  state: string;
  attempts: number;
  complained: boolean;
  /** Numbers of the attempts that were recorded, ascending. */
  attemptNumbers: number[];
  /** Types of its events, in their order. */
  events: string[];
}

export interface Facts {
  damage: string | null;
  messages: Map<string, StoredMessage>;
  /** Ids of other tenants' messages: what is only to find a door closed may come late, and find it open. */
  ofOthers: Set<string>;
  /** Ids of the tenant's events, with what they tell. */
  events: Map<string, { type: string; messageId: string }>;
  /** Submissions by idempotency key. */
  submissionsByKey: Map<string, string[]>;
  /** What the daemon says about inbound mail that had no effect on a message: reasons with how often. */
  inboundKept: Map<string, number>;
  /** How many inbound mails were kept because nobody could read them. */
  unreadable: number;
  /** Written mails that are neither accepted whole nor left over, or that cannot be read. */
  oddWrittenMails: string[];
  /** Pieces of mails that were not accepted. */
  leftovers: number;
  /** Webhook deliveries whose recorded attempts are not what was counted. */
  oddWebhookAttempts: string[];
}
