import { ApiPropertyOptions } from '@nestjs/swagger';
import {
  LIMIT_FIELDS,
  MAX_USD,
  MAX_WORDS,
  USD as WRITTEN_USD,
} from '../../../access/clients/limits/limit-fields';
import { LimitRow } from '../../../access/clients/limits/limit-row';
import { LIMIT_ROWS, LimitKey, LimitsDocument, textOf } from '../../../access/clients/limits/limits';
import {
  BOOLEAN,
  described,
  INTEGER,
  Model,
  optional,
  orNull,
  TEXT,
  USD,
  withFields,
} from '../../../platform/schema/fields';
import { field, WordList } from './rules';

/** An amount in US dollars that limits a client. */
export const usdSchema = (description: string): ApiPropertyOptions => ({
  anyOf: [
    { type: 'number', minimum: 0, maximum: MAX_USD },
    { type: 'string', pattern: WRITTEN_USD.source },
  ],
  description,
  example: '10.5',
});

/** Limits in a request. An amount is a JSON number or decimal text. Null removes a limit. */
export type RequestedLimits<Key extends LimitKey = LimitKey> = {
  [name in keyof LimitsDocument<Key>]?: LimitsDocument<Key>[name] extends boolean
    ? boolean
    : LimitsDocument<Key>[name] | number | null;
};

/** Returns a class with a property for each of these limits, after the properties of another class. */
export function withLimits<Own extends object, Added extends object>(
  base: Model<Own>,
  keys: readonly LimitKey[],
  decorate: (key: LimitKey) => PropertyDecorator,
): Model<Own & Added> {
  const fields = keys.map((key) => [LIMIT_ROWS[key].name, decorate(key)] as const);
  return withFields<Own, Added>(base, fields);
}

/** Validates and describes a limit in a request. */
export function requestedLimit(key: LimitKey, text = requestText(key)): PropertyDecorator {
  const { must, test } = LIMIT_FIELDS[key];
  const row = LIMIT_ROWS[key];
  const rule = { required: false, nullable: row.kind !== 'flag', must, test };
  return row.kind === 'list'
    ? WordList(rule, requestSchema(row, text))
    : field(rule, requestSchema(row, text));
}

function requestText(key: LimitKey): string {
  const row = LIMIT_ROWS[key];
  const text = textOf(key);
  return row.kind === 'usd' && !row.mayBeZero ? text.replace(/\.$/, ', more than 0.') : text;
}

function requestSchema(row: LimitRow, description: string): ApiPropertyOptions {
  switch (row.kind) {
    case 'usd':
      return usdSchema(description);
    case 'count':
      return { ...INTEGER, minimum: 1, maximum: row.most, description };
    case 'list':
      return { items: TEXT, maxItems: MAX_WORDS, description, example: row.example };
    case 'flag':
      return { ...BOOLEAN, description };
  }
}

/** Describes a limit in a response. */
export const shownLimit = (key: LimitKey) => described(SHOWN[LIMIT_ROWS[key].kind], textOf(key));

/** Describes a limit in a response that may leave it out. */
export const shownIfChanged = (key: LimitKey) => optional(SHOWN[LIMIT_ROWS[key].kind], textOf(key));

const SHOWN: Record<LimitRow['kind'], object> = {
  usd: orNull(USD),
  count: orNull(INTEGER),
  list: { type: 'array', items: TEXT },
  flag: BOOLEAN,
};
