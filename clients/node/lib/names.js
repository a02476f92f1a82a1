// Names: snake_case in the API, camelCase here.
'use strict';

/** Of everything in an answer; no answer has names that the caller chose. */
function toCamelCase(value) {
  if (Array.isArray(value)) return value.map(toCamelCase);
  if (typeof value !== 'object' || value === null) return value;
  const renamed = {};
  for (const [name, part] of Object.entries(value)) {
    const camel = name.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase());
    // Plain assignment of `__proto__` would set a prototype.
    Object.defineProperty(renamed, camel, {
      value: toCamelCase(part),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return renamed;
}

module.exports = { toCamelCase };
