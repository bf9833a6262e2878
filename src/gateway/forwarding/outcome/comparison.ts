import { Decimal } from 'decimal.js';
import { CreationRules, isOtherType } from '../../../operations/items/effects';
import { Difference, DIFFERENCES, Item, recipientNames } from '../../../operations/items/item';
import { kindOfKey, mayBeNationalForm, recipientKey } from '../../../recipients/recipient';
import { Transaction } from '../../upstream/answers/transactions';

/** An item of a call, to compare with the transactions of its answer. */
export interface ComparedItem {
  item: Item;
  position: number;
  /** The keys of all names of its recipient. Empty if it names a transaction instead. */
  names: string[];
  /** The key of the name that the upstream pays by. */
  paid: string | undefined;
  expectedFeeUsd: Decimal;
}

/** A transaction of an answer, to compare with the items. */
export interface ComparedTransaction {
  transaction: Transaction;
  ordinal: number;
  names: string[];
}

/** `unstated` and `near` are differences, `other` is a contradiction. */
type Relation = 'same' | 'unstated' | 'near' | 'other';

export function comparedItem(item: Item, position: number, expectedFeeUsd: Decimal): ComparedItem {
  const recipient = recipientNames(item);
  const names = item.upstreamRef === null ? recipient.map(({ key }) => key) : [];
  return { item, position, names, paid: recipient.find(({ counts }) => counts)?.key, expectedFeeUsd };
}

export function comparedTransaction(transaction: Transaction, ordinal: number): ComparedTransaction {
  const { recipients, receiver } = transaction;
  const key = receiver === null ? null : recipientKey('receiver', receiver);
  return { transaction, ordinal, names: key === null ? recipients : [...recipients, key] };
}

/** Returns the properties in which a transaction differs from an item, or that it does not state. */
export function differencesOf(
  item: ComparedItem,
  transaction: ComparedTransaction,
  created: CreationRules | undefined,
): { differs: Difference[]; contradicts: boolean } {
  const { upstreamRef, type } = transaction.transaction;
  const relations: Record<Difference, Relation> = {
    upstream_ref: relationOfNames(item.item.upstreamRef, upstreamRef),
    recipient: relationOfRecipients(item, transaction),
    type: created && isOtherType(type, created) ? 'other' : 'same',
    amount: relationOfAmounts(item, transaction.transaction),
  };
  const differs = DIFFERENCES.filter((property) => relations[property] !== 'same');
  return { differs, contradicts: differs.some((property) => relations[property] === 'other') };
}

/** Compares the transaction that an item names. */
function relationOfNames(named: string | null, upstreamRef: string | null): Relation {
  if (named === null || named === upstreamRef) return 'same';
  return upstreamRef === null ? 'unstated' : 'other';
}

/** Compares recipients. Names of different kinds do not contradict each other. */
function relationOfRecipients(item: ComparedItem, { names }: ComparedTransaction): Relation {
  if (item.names.length === 0) return 'same';
  if (item.paid !== undefined && names.includes(item.paid)) return 'same'; // almost all
  const isOther = (own: string) => {
    const stated = names.filter((name) => kindOfKey(name) === kindOfKey(own));
    return stated.length > 0 && !stated.some((name) => name === own || mayBeNationalForm(name, own));
  };
  if (item.paid !== undefined && isOther(item.paid)) return 'other';
  if (item.names.some((own) => names.includes(own))) return 'same';
  return item.names.some(isOther) ? 'other' : 'unstated';
}

const CENT = new Decimal('0.01');

/** Compares amounts. A near one is rounded to cents, or includes or lacks its own or the expected fee. */
function relationOfAmounts({ item, expectedFeeUsd }: ComparedItem, transaction: Transaction): Relation {
  const { amountUsd, feeUsd } = transaction;
  if (item.amountUsd === null || (amountUsd !== null && item.amountUsd.eq(amountUsd))) return 'same';
  if (amountUsd === null) return 'unstated';
  const difference = item.amountUsd.minus(amountUsd).abs();
  const tolerance = amountUsd.decimalPlaces() <= 2 ? CENT : new Decimal('1e-18');
  const isFee = (fee: Decimal) => difference.minus(fee).abs().lt(tolerance);
  return [new Decimal(0), feeUsd ?? new Decimal(0), expectedFeeUsd].some(isFee) ? 'near' : 'other';
}
