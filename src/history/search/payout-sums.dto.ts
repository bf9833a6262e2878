import { described, USD } from '../../platform/schema/fields';
import { FEES_HELP, SUMS } from '../../operations/sums';

/** The sums of payouts in US dollars, exact. */
export class PayoutSums {
  @described(
    USD,
    'Amounts of all payouts, in any state: `paid_usd` + `pending_usd` + `returned_usd` + `not_executed_usd`.',
  )
  asked_usd!: string;
  @described(USD, SUMS.paid_usd.help) paid_usd!: string;
  @described(USD, SUMS.pending_usd.help) pending_usd!: string;
  @described(USD, SUMS.returned_usd.help) returned_usd!: string;
  @described(USD, SUMS.not_executed_usd.help) not_executed_usd!: string;
  @described(USD, FEES_HELP) fees_usd!: string;
}
