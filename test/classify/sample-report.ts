// A report with fields, as most servers write it, about one mail to ann@rcpt.test.

export interface SampleReport {
  text: string;
  /** What the server said; null: the fields don't tell. */
  reply: string | null;
  /** The returned header; none is returned without it. */
  original?: string;
}

export function sampleReport({ text, reply, original }: SampleReport): Buffer {
  const diagnostic = reply === null ? '' : `Diagnostic-Code: smtp; ${reply}\n`;
  const returned = original === undefined ? '' : `--b\nContent-Type: text/rfc822-headers\n\n${original}\n\n`;
  return Buffer.from(`From: MAILER-DAEMON@mx.test
To: shop@acme.test
Subject: Undelivered Mail Returned to Sender
Content-Type: multipart/report; report-type=delivery-status; boundary=b

--b
Content-Type: text/plain; charset=utf-8

${text}

--b
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.test

Final-Recipient: rfc822; ann@rcpt.test
Action: failed
Status: 5.0.0
${diagnostic}
${returned}--b--
`);
}
