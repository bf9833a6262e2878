import { ApiPropertyOptional } from '@nestjs/swagger';

const text = (description: string) => ApiPropertyOptional({ type: 'string', description });
const textOrNull = (description: string, more: object = {}) =>
  ApiPropertyOptional({ anyOf: [{ type: 'string', ...more }, { type: 'null' }], description });
const count = (description: string) =>
  ApiPropertyOptional({ anyOf: [{ type: 'integer' }, { type: 'null' }], description });
const words = (description: string) => ApiPropertyOptional({ type: [String], description });
const USD = { pattern: '^\\d+(\\.\\d+)?$' };
const INSTANT = { format: 'date-time' };

/** The fields of a client or a key that an act changed. The others are left out. */
export class ActivityState {
  @words('What the keys of the client may do.') scopes?: string[];
  @ApiPropertyOptional({
    anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'null' }],
    description: 'The operations that it may use. Null: all.',
  })
  operations?: string[] | null;
  @textOrNull('US dollars a day.', USD) daily_cap_usd?: string | null;
  @textOrNull('US dollars a calendar month.', USD) monthly_cap_usd?: string | null;
  @textOrNull('US dollars of one item.', USD) max_item_usd?: string | null;
  @textOrNull('US dollars of one call.', USD) max_call_usd?: string | null;
  @textOrNull('More than this waits for an approval.', USD) approval_over_usd?: string | null;
  @count('Items of one call.') max_items?: number | null;
  @count('Requests in a minute.') requests_per_minute?: number | null;
  @words('Countries that it may pay to. Empty: any.') countries?: string[];
  @words('Addresses that it may call from. Empty: any.') addresses?: string[];
  @words('Web origins whose pages may call. Empty: none.') origins?: string[];
  @ApiPropertyOptional({ type: 'boolean', description: 'Whether payments need an Idempotency-Key.' })
  require_idempotency_key?: boolean;
  @text('How the key begins and ends.') hint?: string;
  @textOrNull('The person whose key it is.') person?: string | null;
  @textOrNull('Until when the key is valid. Null: until it is revoked.', INSTANT) expires_at?: string | null;
  @textOrNull('When the key was revoked.', INSTANT) revoked_at?: string | null;
}
