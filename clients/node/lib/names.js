// Names: snake_case in the API, camelCase here.
'use strict';

/** Names in these are the caller's, and stay as they are. */
const NAMED_BY_CALLER = new Set(['tags', 'metadata']);

/** Of everything in an answer. */
function toCamelCase(value) {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  const renamed = {};
  for (const [name, part] of Object.entries(value)) {
    const camel = name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
    // Plain assignment of `__proto__` would set a prototype.
    Object.defineProperty(renamed, camel, {
      value: NAMED_BY_CALLER.has(name) ? part : toCamelCase(part),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return renamed;
}

module.exports = { toCamelCase };
