import { Prisma } from '../generated/client';
import { Fields, fieldsOf, readOptionalMeta, readOptionalText } from '../validation';

/** The caller's own words about an item or a batch. Transactions show them, so that callers can find their own IDs. */
export interface Marks {
  reference: string | null;
  description: string | null;
  meta?: Prisma.InputJsonObject;
}

/** Reads `reference`, `description` and `meta` of an item or a body. All are optional. */
export function readMarks(value: unknown, name?: string): Marks {
  const fields: Fields = fieldsOf(value);
  const prefix = name === undefined ? '' : `${name}.`;
  const meta = readOptionalMeta(fields.meta, `${prefix}meta`);
  return {
    reference: readOptionalText(fields.reference, `${prefix}reference`),
    description: readOptionalText(fields.description, `${prefix}description`),
    ...(meta && { meta }),
  };
}

/** Returns the words about an item. Those of its batch fill in what it leaves out or empty. */
export function marksOf(item: Partial<Marks>, batch: Partial<Marks> = {}): Marks {
  const meta = item.meta ?? batch.meta;
  return {
    reference: item.reference || batch.reference || (item.reference ?? null),
    description: item.description || batch.description || null,
    ...(meta && { meta }),
  };
}
