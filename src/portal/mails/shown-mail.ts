// A mail as the viewer shows it: taken apart in a thread of its own, and cut to what a page holds. All of
// it is somebody else's text.

export interface ShownMail {
  /** As people read them; empty where the field is missing. */
  from: string;
  to: string;
  cc: string;
  subject: string;
  /** As it stands in the mail. */
  date: string;
  messageId: string;
  headers: [name: string, value: string][];
  text: string | null;
  /** With the mail's own pictures put in. */
  html: string | null;
  attachments: { name: string; type: string; octets: number }[];
  /** What was left out, in sentences. */
  cuts: string[];
}

export type MailReading = { kind: 'read'; mail: ShownMail } | { kind: 'unreadable'; reason: string };

export const MAIL_LIMITS = {
  /** What lies behind is not looked at. */
  octets: 10 * 1024 * 1024,
  textChars: 60_000,
  /** It is a document of its own. */
  htmlChars: 2_000_000,
  pictureOctets: 2_000_000,
  headers: 150,
  headerChars: 1_000,
  attachments: 50,
} as const;
