import { Payment, RequestedItem, TrueState } from './ledger';
import { RowForm, TimeForm } from './lies';

/** A transaction as an answer or a list shows it. */
export type Row = Record<string, unknown>;

/** A word that no page of the upstream explains. */
const UNKNOWN_WORD = 'SETTLED_T9';

/** Offset of the upstream's own clock, for local times. */
const LOCAL_HOURS = 3;

const LOCAL_RATE = 129.495;

const TIMES: Record<TimeForm, (at: Date) => unknown> = {
  iso: (at) => at.toISOString(),
  'epoch-ms': (at) => at.getTime(),
  'epoch-s': (at) => Math.floor(at.getTime() / 1_000),
  local: (at) => inHours(at, LOCAL_HOURS).toISOString().slice(0, 19).replace('T', ' '),
  offset: (at) => inHours(at, LOCAL_HOURS).toISOString().replace('Z', '+03:00'),
  rfc2822: (at) => at.toUTCString().replace('GMT', '+0000'),
  firestore: (at) => ({
    _seconds: Math.floor(at.getTime() / 1_000),
    _nanoseconds: (at.getTime() % 1_000) * 1e6,
  }),
};

function inHours(at: Date, hours: number): Date {
  return new Date(at.getTime() + hours * 3_600_000);
}

/** Facts of the account that change how a payment is shown. */
export interface Showing {
  issuer: string;
  form: RowForm;
  /** The fee that lists show later. Undefined for the fee of the payment. */
  feeUsd: number | undefined;
  /** Whether a word that was unknown at first is shown in the known form now. */
  isRevealed: boolean;
}

/** Returns a payment in the form of its account. */
export function rowOf(payment: Payment, { issuer, form, feeUsd, isRevealed }: Showing): Row {
  const fee = feeUsd ?? payment.feeUsd;
  return {
    id: payment.id,
    chiRef: payment.chiRef,
    issueID: payment.issueID,
    issueDate: TIMES[form.time ?? 'iso'](payment.at),
    issuer,
    type: payment.kind,
    status: wordOf(payment.state, form.word, isRevealed),
    valueInUSD: amountOf(payment.usd, fee, form.amount),
    credit: payment.usd * 1_000,
    ...(fee > 0 && { fee }),
    ...recipientFields(payment, form.phone),
    enabledToRedeem: [],
    ...(payment.reference && { reference: payment.reference }),
  };
}

function wordOf(state: TrueState, form: RowForm['word'], isRevealed: boolean): string {
  if (form === 'padded') return ` ${state.toUpperCase()} `;
  const isHidden = form === 'unknown' || (form === 'unknown-first' && !isRevealed);
  return isHidden && state === 'paid' ? UNKNOWN_WORD : state;
}

function amountOf(usd: number, fee: number, form: RowForm['amount']): number | string {
  switch (form) {
    case 'rounded':
      return Number(usd.toFixed(2));
    case 'net':
      return Number((usd - fee).toFixed(6));
    case 'local-text':
      return `KES ${(usd * LOCAL_RATE).toFixed(4)}`;
    case undefined:
      return usd;
  }
}

function recipientFields(item: RequestedItem, form: RowForm['phone']): Row {
  const { phoneNumber, email, twitter, receiver, countryToSend, momoCode } = item;
  return {
    ...(phoneNumber !== undefined && {
      phoneNumber: form === 'without-plus' ? phoneNumber.replace('+', '') : phoneNumber,
    }),
    ...(email && { email }),
    ...(twitter && { twitter }),
    ...(receiver && { receiver }),
    ...(countryToSend && { countryToSend }),
    ...(momoCode && { momoCode }),
  };
}
