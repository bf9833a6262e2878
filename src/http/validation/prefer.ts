/** Preferences of a request that the proxy honors (RFC 7240). */
export interface Preferences {
  /** `respond-async`: the caller accepts 202 before the request is carried out. */
  respondAsync: boolean;
  /** `wait`: how long the caller waits, in seconds. Undefined without one. */
  waitSeconds: number | undefined;
}

const NO_PREFERENCES: Preferences = { respondAsync: false, waitSeconds: undefined };

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t \\x21\\x23-\\x5b\\x5d-\\x7e\\x80-\\xff]|\\\\[\\t\\x20-\\x7e\\x80-\\xff])*"';
const VALUE = `[ \\t]*=[ \\t]*(${TOKEN}|${QUOTED})`;
const PARAMETERS = `(?:[ \\t]*;(?:[ \\t]*${TOKEN}(?:${VALUE})?)?)*`;

/** One preference, with the separators around it. RFC 9110, section 5.6.1, allows empty list members. */
const PREFERENCE = new RegExp(`[ \\t,]*(${TOKEN})(?:${VALUE})?${PARAMETERS}[ \\t]*(?:,[ \\t,]*|$)`, 'y');

/** `delta-seconds`. Nine digits are 31 years. */
const SECONDS = /^\d{1,9}$/;

/**
 * Reads a `Prefer` header. As RFC 7240, section 2, requires, an unknown preference or value is ignored, and
 * only the first of equal preferences counts. A header of another form is ignored as a whole.
 */
export function readPrefer(header: string | undefined): Preferences {
  if (header === undefined) return NO_PREFERENCES;
  const values = new Map<string, string>();
  PREFERENCE.lastIndex = 0;
  while (PREFERENCE.lastIndex < header.length) {
    const found = PREFERENCE.exec(header);
    if (!found) return NO_PREFERENCES;
    const [, name = '', value = ''] = found;
    if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), value === '""' ? '' : value);
  }
  const wait = values.get('wait') ?? '';
  return {
    respondAsync: values.get('respond-async') === '',
    waitSeconds: SECONDS.test(wait) ? Number(wait) : undefined,
  };
}
