// A file that goes out with a message, decoded. Checked by src/submission/attachments.ts before it gets here.

export interface MailAttachment {
  /** In any language, without a path. */
  filename: string;
  /** RFC 2045 section 5.1: `type/subtype`, then parameters, each after a semicolon. */
  contentType: string;
  /** How the HTML refers to it (RFC 2392): `cid:` and this. Null: an ordinary attachment. */
  contentId: string | null;
  content: Buffer;
}
