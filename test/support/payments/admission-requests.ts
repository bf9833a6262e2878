import { Decimal } from 'decimal.js';
import { Item } from '../../../src/operations/items/item';
import { AdmissionRequest, Budget, State } from '../../../src/policy/admission';
import { Register } from '../../../src/policy/limits/beneficiaries';
import { RecipientDays } from '../../../src/policy/limits/recipient-days';
import { Stop } from '../../../src/policy/limits/stops';
import { NO_HISTORY } from '../databases/no-history';
import { NO_ITEM } from './no-item';

export const usd = (text: string) => new Decimal(text);

/** A payment to an e-mail address. */
export function payment(email: string, amount: string): Item {
  return {
    ...NO_ITEM,
    recipientField: 'email',
    email,
    amountUsd: usd(amount),
  };
}

export function request(id: string, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  return {
    id,
    clientId: 'shop',
    operation: 'POST /payouts/airtime',
    account: 'main',
    endUserId: null,
    payers: [],
    idempotencyKey: null,
    content: `{"of":"${id}"}`,
    items: [payment(`${id}@example.com`, '1')],
    allowDuplicateOf: null,
    overOwnLimit: false,
    sendableInSeconds: null,
    usd: usd('1'),
    feeUsd: null,
    heldFor: null,
    recipients: null,
    payments: null,
    ...more,
  };
}

export function budget(more: Partial<Budget> = {}): Budget {
  const spent = { spentTodayUsd: usd('0'), spentThisMonthUsd: usd('0') };
  return { ...NO_HISTORY, dailyCapUsd: null, monthlyCapUsd: null, ...spent, ...more };
}

const ON = { duplicates: true, windowSeconds: 30, acrossClients: true };
export const OFF = { duplicates: false, windowSeconds: 30, acrossClients: false };

export function state(more: Partial<State> = {}): State {
  return {
    claims: new Map(),
    sameContent: new Map(),
    seenAcrossClients: new Set(),
    unexplained: new Map(),
    register: new Register(),
    recipients: new RecipientDays(),
    stops: [],
    budgets: new Map([['shop', budget()]]),
    payers: new Map(),
    guards: ON,
    ...more,
  };
}

export const stop = (more: Partial<Stop> = {}): Stop => ({
  id: 'stop',
  clientId: null,
  operation: null,
  reason: 'drill',
  ...more,
});
