import { PickType } from '@nestjs/swagger';
import { described, nullable, TEXT, UUID } from '../../platform/schema/fields';
import { CALL_STATES, CallState } from '../../operations/lifecycle';
import { RecordEntry, RecordItem } from '../records/record.dto';

/** A payout, and everything that became of it. */
export class PayoutRecord extends PickType(RecordItem, [
  'position',
  'state',
  'next',
  'amount_usd',
  'fee_usd',
] as const) {
  @described({ ...TEXT, example: '01999999-1234-7890-abcd-0123456789ab.0' }, 'ID of the payout.') id!: string;
  @described(UUID, 'ID of its call.') call_id!: string;
  @described({ ...TEXT, example: 'POST /payouts/airtime' }, 'Name of the operation.') operation!: string;
  @described({ enum: CALL_STATES }, 'The outcome of its call.') outcome!: CallState;
  @nullable(TEXT, 'Why it is in this state, if that was found out after the answer.') reason!: string | null;
  @described({ type: RecordItem }, 'The item of the request, with its transaction.') item!: RecordItem;
  @described({ type: [RecordEntry] }, 'Its ledger, oldest entry first. The last one is in effect.')
  ledger!: RecordEntry[];
}
