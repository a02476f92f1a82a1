// What happened to messages.

export interface Events {
  /** In their order, after the one with the id `after`; `limit` is 1 to 1,000, 100 unless given. */
  list(page?: { after?: string | undefined; limit?: number | undefined }): Promise<EventPage>;
}

export interface EventPage {
  events: Event[];
  /** Ask again after the id of the last one. */
  hasMore: boolean;
}

/** One recipient's one fact. `switch (event.type)` tells which part its `data` has. */
export type Event =
  | EventOf<'email.delivered', 'delivery', { delivery: Delivery }>
  | EventOf<'email.deferred', 'delivery', { delivery: Delivery }>
  | EventOf<'email.canceled', 'delivery', { cancellation: Cancellation }>
  | EventOf<'email.bounced', 'bounce', { bounce: Bounce }>
  | EventOf<'email.failed', 'bounce', { bounce: Bounce }>
  | EventOf<'email.complained', 'complaint', { complaint: Complaint }>
  | EventOf<'email.opened', 'open', { open: Open }>
  | EventOf<'email.clicked', 'open', { click: Click }>
  | EventOf<'test', 'test', { test: { message: string } }>;

export interface EventOf<Type extends string, Family extends string, Part> {
  id: string;
  type: Type;
  family: Family;
  timestamp: string;
  data: EventData & Part;
}

export interface EventData {
  messageId: string;
  submissionId: string;
  from: string;
  to: string;
  subject: string;
  domain: string;
  /** The Message-ID of a mail that was handed in by SMTP. */
  headerMessageId?: string;
  /** Missing where the call gave none. */
  tags?: Record<string, string>;
  metadata?: Record<string, string>;
}

export interface Delivery {
  mx: string | null;
  remoteIp: string | null;
  smtpCode: number | null;
  enhancedCode: string | null;
  response: string;
  tls: { version: string; cipher: string; verified: boolean; policy: 'none' | 'testing' | 'enforce' } | null;
  attempt: number;
  elapsedMs: number;
  nextAttemptAt?: string | null;
}

export interface Cancellation {
  by: 'sender' | 'operator';
  reason: string;
}

export interface Bounce {
  type: 'hard' | 'soft' | 'block';
  source: 'smtp' | 'dsn';
  smtpCode: number | null;
  enhancedCode: string | null;
  diagnostic: string | null;
  mx: string | null;
  reportingMta: string | null;
  attempt: number;
  suppressed: boolean;
}

export interface Complaint {
  feedbackType: string;
  source: string;
  userAgent: string | null;
  arrivalDate: string | null;
  reportedDomain: string | null;
  suppressed: boolean;
}

export interface Open {
  first: boolean;
  ip: string | null;
  userAgent: string | null;
  machine: boolean;
  machineReason: string | null;
}

export interface Click extends Omit<Open, 'machineReason'> {
  url: string;
  linkIndex: number;
}
