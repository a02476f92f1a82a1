// The body of a send, in the names of the API.
'use strict';

/** Renames fields of the message only: the names in data, headers, tags and metadata are the caller's. */
function messageBody({ templateId, replyTo, attachments, ...message }) {
  const body = { ...message };
  if (templateId !== undefined) body.template_id = templateId;
  if (replyTo !== undefined) body.reply_to = replyTo;
  if (attachments !== undefined) {
    body.attachments = Array.isArray(attachments) ? attachments.map(attachmentBody) : attachments;
  }
  return body;
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

module.exports = { messageBody };
