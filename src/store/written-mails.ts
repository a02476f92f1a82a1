// Contract: written mails: mail as an application wrote it, handed in by SMTP, which goes out as it was written. A body is
// stored in pieces while it arrives; the verb that accepts its submission makes them count, in one transaction. Until
// then they are leftovers: whoever gives a mail up drops it, and what nobody dropped is swept.

/** So that storing, reading or erasing a piece takes a millisecond or two. */
export const MAX_PIECE_BYTES = 256 * 1024;

/** What is accepted of a written mail, beside its pieces: part of a submission. */
export interface NewWrittenMail {
  source: 'smtp';
  /** As it goes out, without our own fields and signatures; every line ends with CRLF, without the empty line. */
  header: Buffer;
  /** How many pieces the body has, and their bytes in all. */
  pieces: number;
  bytes: number;
  /** The last of them, if it was not kept before: it is stored with the submission. */
  last?: Buffer;
  /** The bh= of its DKIM signatures. */
  bodyHash: string;
  /** Whether the body has octets above 127. */
  eightBit: boolean;
  /** The value of the field Message-ID, without angle brackets. */
  messageId: string;
}

/** What a courier sends of it; the pieces are read one by one while they are sent. */
export type WrittenContent = Pick<NewWrittenMail, 'header' | 'pieces' | 'bytes' | 'bodyHash' | 'eightBit'>;

export interface NewPiece {
  tenantId: string;
  /** That of the submission to come. */
  id: string;
  /** From 0 on; each once. */
  position: number;
  /** At least one byte, and at most MAX_PIECE_BYTES. The body ends with a line break. */
  bytes: Buffer;
  at: number;
}

export interface WrittenMails {
  /** Rejects when the mail has been accepted or dropped. */
  keepPiece(piece: NewPiece): Promise<void>;
  /** Gives up what was kept under this ID: it can't be accepted any more, and is swept. Accepted mail stays as it is. */
  drop(mail: { tenantId: string; id: string }): Promise<void>;
  /**
   * Erases pieces of mails that were dropped, whose content was erased, or whose latest piece came before this time
   * without a submission. Returns how many rows went, at most `limit`; 0: there are no more.
   */
  sweep(sweep: { before: number; limit: number }): Promise<number>;
}
