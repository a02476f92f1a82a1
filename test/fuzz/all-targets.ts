// Every parser of what comes from outside. The bodies of POST /emails are fuzzed in a way of their own: run-fuzz.ts.
import type { FuzzTarget } from './target.ts';
import { addressTarget } from './targets/address.ts';
import { attachmentsTarget } from './targets/attachments.ts';
import { browserTokenTarget } from './targets/browser-token.ts';
import { dmarcReportTarget, packedFileTarget } from './targets/dmarc.ts';
import { dnsTarget } from './targets/dns.ts';
import { htmlTarget } from './targets/html.ts';
import { arfTarget, inboundMailTarget } from './targets/mails.ts';
import { markupTarget } from './targets/markup.ts';
import { multipartTarget } from './targets/multipart.ts';
import { publishedRecordsTarget } from './targets/published-records.ts';
import { resendEmailTarget } from './targets/resend-email.ts';
import { smtpDialogTarget } from './targets/smtp-dialog.ts';
import { smtpReplyTarget } from './targets/smtp-reply.ts';
import { submissionDialogTarget } from './targets/submission-dialog.ts';
import { suppressionCsvTarget } from './targets/suppression-csv.ts';
import { templateSampleTarget } from './targets/template-sample.ts';
import { tlsReportTarget } from './targets/tls-report.ts';
import { bounceAddressTarget, linkTokenTarget } from './targets/tokens.ts';
import { writtenMailTarget } from './targets/written-mail.ts';

export const ALL_TARGETS: readonly FuzzTarget[] = [
  addressTarget,
  attachmentsTarget,
  inboundMailTarget,
  arfTarget,
  dmarcReportTarget,
  packedFileTarget,
  tlsReportTarget,
  bounceAddressTarget,
  linkTokenTarget,
  browserTokenTarget,
  htmlTarget,
  smtpDialogTarget,
  submissionDialogTarget,
  smtpReplyTarget,
  dnsTarget,
  publishedRecordsTarget,
  templateSampleTarget,
  multipartTarget,
  markupTarget,
  suppressionCsvTarget,
  resendEmailTarget,
  writtenMailTarget,
];
