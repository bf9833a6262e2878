import { ApiProperty } from '@nestjs/swagger';
import { UsageDto } from './cap';

const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });
const USD = { pattern: '^\\d+(\\.\\d+)?$', example: '10.5' };

export class LimitsDto extends UsageDto {
  @nullable('string', 'US dollars of one item.', USD) max_item_usd!: string | null;
  @nullable('string', 'US dollars of one call.', USD) max_call_usd!: string | null;
  @nullable('string', 'A payout of more waits for an approval.', USD) approval_over_usd!: string | null;
  @nullable('integer', 'Items of one call.') max_items!: number | null;
  @nullable('integer', 'Requests in a minute.') requests_per_minute!: number | null;
  @ApiProperty({ type: [String], description: 'Countries that may be paid to; empty: any.' }) countries!: string[];
  @ApiProperty({ type: 'boolean', description: 'Whether what pays or writes needs an Idempotency-Key.' })
  require_idempotency_key!: boolean;
}
