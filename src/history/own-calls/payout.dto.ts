import { ApiProperty, PickType } from '@nestjs/swagger';
import { CALL_STATES, CallState } from '../../operations/lifecycle';
import { nullable, text } from '../records/record-fields';
import { RecordEntry, RecordItem } from '../records/record.dto';

/** A payout, and everything that became of it. */
export class PayoutRecord extends PickType(RecordItem, [
  'position',
  'state',
  'next',
  'amount_usd',
  'fee_usd',
] as const) {
  @text('ID of the payout.', { example: '01999999-1234-7890-abcd-0123456789ab.0' }) id!: string;
  @text('ID of its call.', { format: 'uuid' }) call_id!: string;
  @text('Name of the operation.', { example: 'POST /payouts/airtime' }) operation!: string;
  @ApiProperty({ enum: CALL_STATES, description: 'The outcome of its call.' }) outcome!: CallState;
  @nullable('string', 'Why it is in this state, if that was found out after the answer.') reason!: string | null;
  @ApiProperty({ type: RecordItem, description: 'The item of the request, with its transaction.' }) item!: RecordItem;
  @ApiProperty({ type: [RecordEntry], description: 'Its ledger, oldest entry first. The last one is in effect.' })
  ledger!: RecordEntry[];
}
