/** SQL that gives each recipient one spelling, with its kind as a prefix, so that ours and theirs compare by `=`. */

export const emailKey = (value: string) => `'e:' || lower(btrim(${value}))`;

/** The digits of a phone number. No number in international form begins with 0, but a dialled number may: 00254… */
export const phoneKey = (value: string) =>
  `'p:' || ltrim(CASE WHEN translate(${value}, '0123456789', '') IN ('', '+') THEN ${value} ELSE regexp_replace(${value}, '\\D', '', 'g') END, '+0')`;

export const handleKey = (value: string) => `'h:' || lower(ltrim(btrim(${value}), '@'))`;

/**
 * A sub-account's user ID. Callers may use a contact instead. A value that was masked for the record identifies nobody.
 */
export const receiverKey = (value: string) => `CASE
  WHEN ${value} LIKE '%••%' THEN NULL
  WHEN ${value} LIKE '@%' THEN ${handleKey(value)}
  WHEN ${value} LIKE '%@%' THEN ${emailKey(value)}
  WHEN ${value} ~ '^\\+[0-9]+$' THEN ${phoneKey(value)}
  ELSE 'r:' || ${value} END`;

/**
 * A key in masked form, for viewers who may not see people. It does the same as audit.mask_email and its like, which
 * the proxy's role may not call.
 */
export function masked(key: string): string {
  const email = `substr(${key}, 3)`;
  const phone = `'+' || substr(${key}, 3)`;
  const handle = `'@' || substr(${key}, 3)`;
  return `CASE left(${key}, 2)
    WHEN 'e:' THEN CASE WHEN strpos(${email}, '@') > 2 THEN left(${email}, 1) ELSE '' END || '••@' || substring(${email} FROM '[^@]*$')
    WHEN 'p:' THEN left(${phone}, 4) || '••••' || substr(${phone}, greatest(8, length(${phone}) - 4) + 1)
    WHEN 'h:' THEN left(${handle}, CASE WHEN length(${handle}) > 3 THEN 2 ELSE 1 END) || '••'
    ELSE ${harmless(`substr(${key}, 3)`)} END`;
}

/**
 * An identifier that a subject may contain. An identifier that could be a contact is hashed. Lengths are not part of
 * the patterns, because a counted repetition takes ten times as long.
 */
export function harmless(id: string): string {
  return `CASE WHEN length(${id}) <= 100 AND ${id} ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]*$'
      AND NOT (length(${id}) BETWEEN 7 AND 15 AND translate(${id}, '0123456789', '') = '') THEN ${id}
    WHEN ${id} IS NOT NULL THEN 'sha256-' || left(encode(sha256(convert_to(${id}, 'UTF8')), 'hex'), 16) END`;
}

/** A status word. A longer value, or one that is no word, may contain personal data, so it is masked. */
export function plainWord(word: string): string {
  return `CASE WHEN length(${word}) <= 60 AND ${word} ~ '^[[:alpha:]][[:alpha:] _-]*$' THEN ${word} WHEN ${word} IS NOT NULL THEN '••••' END`;
}
