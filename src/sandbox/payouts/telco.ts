import Decimal from 'decimal.js';
import { inLocalCurrency } from '../countries/rates';
import { NewTransaction } from '../transactions/issue';

/** The telco's answer (docs/reference/upstream.md, /payouts/airtime). "Sent" means handed over, not delivered. */
export function telcoPayout({ id, phoneNumber, countryToSend, valueInUSD, status }: NewTransaction) {
  const isSent = status !== 'failed' && status !== 'fraud';
  return {
    phoneNumber,
    amount: inLocalCurrency(new Decimal(valueInUSD), countryToSend ?? ''),
    status: isSent ? 'Sent' : 'Failed',
    requestId: id,
    errorMessage: isSent ? 'None' : 'could not be sent to this phone number',
  };
}
