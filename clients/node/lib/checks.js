// Checks of arguments that the service could not make.
'use strict';

const { PostriderError } = require('./errors.js');

/** An empty id would be the whole list, and dots climb: neither can be meant. */
function pathOf(collection, id, wanted = 'id is the id of a record, a UUID.') {
  if (typeof id !== 'string' || ['', '.', '..'].includes(id)) {
    throw new PostriderError(wanted, { code: 'invalid_argument' });
  }
  return `${collection}/${encodeURIComponent(id)}`;
}

function checkedKey(key) {
  if (typeof key === 'string' && /^[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*$/.test(key)) return key;
  throw new PostriderError('idempotencyKey is a text of printable ASCII characters.', { code: 'invalid_argument' });
}

module.exports = { pathOf, checkedKey };
