import { ApiProperty } from '@nestjs/swagger';

const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });
const USD = { pattern: '^\\d+(\\.\\d+)?$', example: '10.5' };

/** A cap and what is left of it. */
export class CapDto {
  @nullable('string', 'The most that may be paid; null: no cap.', USD) cap_usd!: string | null;
  @ApiProperty({
    type: 'string',
    ...USD,
    description: 'Paid, or about to be, or perhaps paid: what is in doubt counts until it is settled.',
  })
  spent_usd!: string;
  @nullable('string', 'What may still be paid; null: no cap.', USD) left_usd!: string | null;
  @ApiProperty({ type: 'string', format: 'date-time', description: 'When it begins anew.' }) resets_at!: Date;
}

export class LimitsDto {
  @ApiProperty({ type: CapDto, description: 'From midnight to midnight UTC.' }) daily!: CapDto;
  @ApiProperty({ type: CapDto, description: 'The calendar month, UTC.' }) monthly!: CapDto;
  @nullable('string', 'US dollars of one item.', USD) max_item_usd!: string | null;
  @nullable('string', 'US dollars of one call.', USD) max_call_usd!: string | null;
  @nullable('string', 'A payout of more waits for an approval.', USD) approval_over_usd!: string | null;
  @nullable('integer', 'Items of one call.') max_items!: number | null;
  @nullable('integer', 'Requests in a minute.') requests_per_minute!: number | null;
  @ApiProperty({ type: [String], description: 'Countries that may be paid to; empty: any.' }) countries!: string[];
  @ApiProperty({ type: 'boolean', description: 'Whether what pays or writes needs an Idempotency-Key.' })
  require_idempotency_key!: boolean;
}
