import { ApiProperty } from '@nestjs/swagger';
import { nullable as orNull } from '../../platform/schema/fields';
import { CapDto, UsageDto } from './cap';

const nullable = (type: 'string' | 'integer', description: string, more: object = {}) =>
  ApiProperty({ anyOf: [{ type, ...more }, { type: 'null' }], description });
const USD = { pattern: '^\\d+(\\.\\d+)?$', example: '10.5' };

export class LimitsDto extends UsageDto {
  @orNull(CapDto, 'All payments with your ephemeral key, which ends when the cap resets. Null for other keys.')
  total!: CapDto | null;
  @nullable('string', 'Limit per item in US dollars.', USD) max_item_usd!: string | null;
  @nullable('string', 'Limit per call in US dollars.', USD) max_call_usd!: string | null;
  @nullable('string', 'Approval threshold per call in US dollars.', USD) approval_over_usd!: string | null;
  @nullable('string', 'Approval threshold per recipient and day in US dollars, UTC.', USD)
  approval_over_recipient_day_usd!: string | null;
  @nullable('string', 'Approval threshold per day in US dollars, UTC.', USD) approval_over_day_usd!: string | null;
  @nullable('string', 'Limit per recipient and day in US dollars, UTC.', USD) max_recipient_day_usd!: string | null;
  @nullable('integer', 'Days in which the same amount to the same recipient needs an approval.')
  hold_duplicates_days!: number | null;
  @nullable('integer', 'Limit of items per call.') max_items!: number | null;
  @nullable('integer', 'Limit of requests per minute.') requests_per_minute!: number | null;
  @ApiProperty({ type: [String], description: 'Countries that you may pay to. Empty: any.' }) countries!: string[];
  @ApiProperty({ type: 'boolean', description: 'Whether payments and writes require an Idempotency-Key.' })
  require_idempotency_key!: boolean;
  @ApiProperty({ type: 'boolean', description: 'Whether you may pay only registered recipients.' })
  beneficiaries_only!: boolean;
  @nullable('integer', 'Seconds in which payouts to a newly registered recipient need an approval.')
  beneficiary_cool_off_seconds!: number | null;
}
