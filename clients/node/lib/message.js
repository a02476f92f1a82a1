// The body of a send, in the names of the API.
'use strict';

const { isDate } = require('node:util/types');
const { PostriderError } = require('./errors.js');

/** Renames fields of the message only: the names in data, headers, tags and metadata are the caller's. */
function messageBody({ templateId, replyTo, attachments, sendAt, ...message }) {
  const body = { ...message };
  if (templateId !== undefined) body.template_id = templateId;
  if (replyTo !== undefined) body.reply_to = replyTo;
  if (attachments !== undefined) {
    body.attachments = Array.isArray(attachments) ? attachments.map(attachmentBody) : attachments;
  }
  if (sendAt !== undefined) body.send_at = timeText(sendAt);
  return body;
}

/** A string is for the service to judge, which says what is wrong with it. */
function timeText(time) {
  if (!isDate(time)) return time;
  if (Number.isNaN(time.getTime())) {
    throw new PostriderError('sendAt is a Date without a time.', { code: 'invalid_argument' });
  }
  return time.toISOString();
}

/** The key of a batch covers the whole: one of an email's own would have no effect. */
function batchedBody(email) {
  if (typeof email !== 'object' || email === null) return email;
  const { idempotencyKey, ...content } = email;
  if (idempotencyKey === undefined || idempotencyKey === null) return messageBody(content);
  const message = 'idempotencyKey is given for the whole batch, not for an email in it.';
  throw new PostriderError(message, { code: 'invalid_argument' });
}

function attachmentBody({ content, contentType, contentId, ...attachment }) {
  return { ...attachment, content: inBase64(content), content_type: contentType, content_id: contentId };
}

/** A string is base64 already. What is neither that nor bytes is for the service to reject, which says where it is. */
function inBase64(content) {
  if (ArrayBuffer.isView(content)) {
    return Buffer.from(content.buffer, content.byteOffset, content.byteLength).toString('base64');
  }
  return content instanceof ArrayBuffer ? Buffer.from(content).toString('base64') : content;
}

module.exports = { messageBody, batchedBody, timeText };
