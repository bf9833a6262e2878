/** A kind of transaction, as the upstream's listing shows it. */
export interface TransactionKind {
  /** Its name in verdicts. The listing is as fresh as the newest known transaction of the same kind. */
  name: string;
  /** Its type, as the adapter reads it (src/gateway/upstream/answers/transactions.ts), in lower case. */
  type: string;
  class: TransactionClass;
}

/** How a kind of transaction is recognized if an answer is lost, and how reconciliation compares it. */
type TransactionClass = keyof typeof CLASSES;

export interface ClassRules {
  /** Value leaves a wallet at once. The transaction is never unpaid, and our records show whether money moved. */
  paidAtOnce: boolean;
  /** The upstream may take a fee. */
  takesFee: boolean;
  /** The listing always has it. A listing without it is incomplete. */
  alwaysListed: boolean;
  /**
   * Money comes in, in the currency of the payer. The transaction is recognized by its reference instead of its amount,
   * and counts for nothing in the sums.
   */
  incoming: boolean;
}

export const CLASSES = {
  /** Value leaves a wallet for a recipient. */
  payout: { paidAtOnce: true, takesFee: true, alwaysListed: true, incoming: false },
  /** Value leaves a wallet for another wallet of the same owner. */
  transfer: { paidAtOnce: true, takesFee: false, alwaysListed: false, incoming: false },
  /** Money moves when someone pays the link, so our records cannot show whether it did. */
  link: { paidAtOnce: false, takesFee: false, alwaysListed: false, incoming: false },
  /** Money comes in. */
  collection: { paidAtOnce: false, takesFee: false, alwaysListed: false, incoming: true },
} as const satisfies Record<string, ClassRules>;

/** The kinds that several operations create. A kind of one operation is in its row. */
export const LINK: TransactionKind = { name: 'link', type: 'credit', class: 'link' };
export const TRANSFER: TransactionKind = { name: 'transfer', type: 'transfer', class: 'transfer' };
export const COLLECTION: TransactionKind = { name: 'collection', type: 'payment', class: 'collection' };
