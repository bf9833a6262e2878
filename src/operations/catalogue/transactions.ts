/** A kind of transaction in the upstream's listing. */
export interface TransactionKind {
  /** Its name in verdicts. The listing is as fresh as its newest known transaction of this kind. */
  name: string;
  /** Its type from the adapter (src/gateway/upstream/answers/transactions.ts), in lower case. */
  type: string;
  class: TransactionClass;
}

/** How a kind of transaction is identified after a lost answer, and compared in reconciliation. */
type TransactionClass = keyof typeof CLASSES;

export interface ClassRules {
  /** Value leaves a wallet at once. The transaction is never unpaid. Our records show whether money moved. */
  paidAtOnce: boolean;
  /** The upstream may take a fee. */
  takesFee: boolean;
  /** Always listed. A listing without it is incomplete. */
  alwaysListed: boolean;
  /**
   * Money arrives, in the payer's currency. The reference identifies the transaction instead of the amount,
   * and the sums exclude it.
   */
  incoming: boolean;
}

export const CLASSES = {
  /** Value leaves a wallet for a recipient. */
  payout: { paidAtOnce: true, takesFee: true, alwaysListed: true, incoming: false },
  /** Value leaves a wallet for another wallet of the same owner. */
  transfer: { paidAtOnce: true, takesFee: false, alwaysListed: false, incoming: false },
  /** Money moves when the link is paid, so our records cannot show whether it did. */
  link: { paidAtOnce: false, takesFee: false, alwaysListed: false, incoming: false },
  /** Money arrives. */
  collection: { paidAtOnce: false, takesFee: false, alwaysListed: false, incoming: true },
} as const satisfies Record<string, ClassRules>;

/** The kinds that several operations create. A kind of a single operation is in its row. */
export const LINK: TransactionKind = { name: 'link', type: 'credit', class: 'link' };
export const TRANSFER: TransactionKind = { name: 'transfer', type: 'transfer', class: 'transfer' };
export const COLLECTION: TransactionKind = { name: 'collection', type: 'payment', class: 'collection' };
