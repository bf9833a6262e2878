import { Prisma } from '../../platform/database/generated/client';

/**
 * Masks a canonical key (`recipient_key()`, src/recipients/recipient.ts) for viewers who may not see people.
 * Equal to audit.mask_email and its siblings, which the proxy's role may not call.
 */
export function masked(key: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`CASE
    WHEN ${key} ~ '^(?:[+]|tel:)'
      THEN left(${key}, 4) || '••••' || substr(${key}, greatest(8, length(${key}) - 4) + 1)
    WHEN ${key} LIKE '@%'
      THEN left(${key}, CASE WHEN length(${key}) > 3 THEN 2 ELSE 1 END) || '••'
    WHEN ${key} LIKE '%@%'
      THEN CASE WHEN strpos(${key}, '@') > 2 THEN left(${key}, 1) ELSE '' END
        || '••@' || substring(${key} FROM '[^@]*$')
    ELSE ${harmless(key)} END`;
}

/**
 * Returns an identifier in a form that a subject may contain. A possible contact is hashed. The patterns omit
 * lengths, because a counted repetition takes ten times as long.
 */
export function harmless(id: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`CASE WHEN length(${id}) <= 100 AND ${id} ~ '^[A-Za-z0-9][A-Za-z0-9._:/-]*$'
      AND NOT (length(${id}) BETWEEN 7 AND 15 AND translate(${id}, '0123456789', '') = '') THEN ${id}
    WHEN ${id} IS NOT NULL
      THEN 'sha256-' || left(encode(sha256(convert_to(${id}, 'UTF8')), 'hex'), 16) END`;
}

/** Returns a status word. A longer value, or one that is no word, may contain personal data and is masked. */
export function plainWord(word: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`CASE WHEN length(${word}) <= 60 AND ${word} ~ '^[[:alpha:]][[:alpha:] _-]*$' THEN ${word}
    WHEN ${word} IS NOT NULL THEN '••••' END`;
}
