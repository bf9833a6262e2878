import Decimal from 'decimal.js';
import { Transaction } from '../generated/client';
import { inLocalCurrency } from './rates';

/** What the telco said; upstream-observed.md, /payouts/airtime. "Sent" means handed over, not delivered. */
export function telcoPayout({ id, phoneNumber, countryToSend, valueInUSD }: Transaction): object {
  return {
    phoneNumber,
    amount: inLocalCurrency(new Decimal(valueInUSD), countryToSend ?? ''),
    status: 'Sent',
    requestId: id,
    errorMessage: 'None',
  };
}
