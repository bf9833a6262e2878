import { ApiProperty } from '@nestjs/swagger';
import { FEES_HELP, SUMS } from '../../operations/sums';

const usd = (description: string) =>
  ApiProperty({ type: 'string', pattern: '^\\d+(\\.\\d+)?$', example: '1234.5', description });

/** The sums of payouts in US dollars, exact. */
export class PayoutSums {
  @usd('Amounts of all payouts, in any state: `paid_usd` + `pending_usd` + `returned_usd` + `not_executed_usd`.')
  asked_usd!: string;
  @usd(SUMS.paid_usd.help) paid_usd!: string;
  @usd(SUMS.pending_usd.help) pending_usd!: string;
  @usd(SUMS.returned_usd.help) returned_usd!: string;
  @usd(SUMS.not_executed_usd.help) not_executed_usd!: string;
  @usd(FEES_HELP) fees_usd!: string;
}
