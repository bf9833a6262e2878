import Decimal from 'decimal.js';
import { withPayouts } from '../../../src/gateway/forwarding/outcome/handovers';
import { matchItems } from '../../../src/gateway/forwarding/outcome/match';
import { toAnswer } from '../../../src/gateway/upstream/answers/answer';
import { readTransaction } from '../../../src/gateway/upstream/answers/transactions';
import { toOutgoing } from '../../../src/gateway/upstream/transport/outgoing';
import { transactionOf } from '../../../src/history/records/items';
import { toItemRecord } from '../../../src/history/records/record';
import { CallRecord, RecordItem } from '../../../src/history/records/record.dto';
import { IntentDocument, OutcomeDocument } from '../../../src/journal/records/documents';
import { ledgerOf } from '../../../src/journal/settlement/ledger';
import { sharesItsShape } from '../../support/http/same-shape';
import { NO_ITEM } from '../../support/payments/no-item';

/**
 * An object with its own shape is ten times as expensive, and the shape survives until the next major
 * collection. Node 20 creates one for each `{ ...some, more }` (decision 0042).
 */
describe('frequent objects', () => {
  const at = '2026-11-20T10:00:00.000000Z';
  const intent = {
    id: '019e0000-0000-7000-8000-000000000000',
    operation: 'POST /payouts/airtime',
    recorded_at: at,
    items: [{ amount_usd: '1.5' }],
  } as unknown as IntentDocument;
  const outcome = {
    entries: 'paid',
    recorded_at: at,
    items: [{ position: 0, fee_usd: '0.1', upstream_ref: 'a', status: 'paid' }],
  } as unknown as OutcomeDocument;
  const ledger = () => ledgerOf({ intent, outcome, settlements: [] })[0]!;
  const transaction = {
    upstreamRef: 'a',
    upstreamId: null,
    batchRef: null,
    status: 'paid',
    amountUsd: null,
    feeUsd: null,
  };
  const payouts = [{ index: 0, phone: '+254700000001', status: 'sent', error: null }];
  const items = [{ ...NO_ITEM, phone: '+254700000001', amountUsd: new Decimal(1) }];
  const record = () =>
    ({
      ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`m${n}`, n])),
      items: [],
      upstream: null,
    }) as unknown as CallRecord;
  const account = { name: 'main', funds: { subAccount: undefined, wallet: undefined } };
  const page = Array.from({ length: 300 }, record);
  let index = 0;

  it.each<[string, () => unknown]>([
    ['requests to the upstream', () => toOutgoing(account, 'POST /payouts/airtime', { airtimes: [] })],
    ['requests without a body', () => toOutgoing(account, 'GET /wallets/list', undefined)],
    [
      'answers',
      () =>
        toAnswer(
          {
            status: 200,
            contentType: null,
            isDecoded: true,
            retryAfter: null,
            body: Buffer.from('{"status":"success"}'),
          },
          { effect: 'pay' },
        ),
    ],
    [
      'transactions of an answer',
      () =>
        matchItems(items, [readTransaction({ chiRef: 'a' })], { operation: 'POST /send', feeRule: null })[0],
    ],
    ['payouts with a transaction', () => withPayouts(items, [{ position: 0, ...transaction }], payouts)[0]],
    ['payouts without one', () => withPayouts(items, [], payouts)[0]],
    ['reservations', () => ledger().postings[0]],
    ['fees', () => ledger().postings.at(-1)],
    ['transactions', () => transactionOf(undefined, ledger())],
    ['payouts of a page', () => toItemRecord(page[index++ % page.length]!, {} as RecordItem)],
  ])('share the shape of %s', (_what, make) => {
    expect(sharesItsShape(make)).toBe(true);
  });
});
