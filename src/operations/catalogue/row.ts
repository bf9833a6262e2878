import { RecipientKind } from '../../recipients/recipient';
import type { AnswerName } from './answers';
import type { ID_FORMS } from './payout-id';
import { TransactionKind } from './transactions';

/** The definition of an operation. No property is optional: a row that omits one does not compile. */
export type OperationRow = PayRow | WriteRow | ReadRow;

/** The effect of an operation on money and data, and the scope that a key needs. */
export type Effect = OperationRow['effect'];

interface CommonRow {
  /** Title of the operation: a few words. */
  title: string;
  /**
   * The objects that the operation can change or show. The upstream has one account and no owners, so the
   * proxy decides:
   * - `own`: objects that the call creates, or data that is the same for all clients.
   * - a named object: without the scope `account`, a key reaches only objects of its own client.
   * - `transactions`: lists them. Without the scope `account`, the answer has only those of its own client.
   * - `account`: everything in the account. Keys need the scope `account`.
   */
  reach: 'own' | NamedObject | 'transactions' | 'account';
  /** Class of its deadline. UPSTREAM_TIMEOUTS sets a deadline for a class or for one operation. */
  deadline: DeadlineClass;
  /** The content of a successful answer. */
  answer: AnswerName;
}

/** The input field that names a transaction, a batch or a sub-account, and the kind of its ID. */
export interface NamedObject {
  in: string;
  names: TransactionId | 'subAccountId';
}

/** Our names of a transaction's IDs at the upstream. Transactions of one batch share `batchRef`. */
export type TransactionId = 'upstreamRef' | 'upstreamId' | 'batchRef';

/** Value leaves a wallet. The call counts on caps, and its transactions identify it after a lost answer. */
interface PayRow extends CommonRow {
  effect: 'pay';
  input: 'body';
  items: PaidItems;
  coverage: CoverageList | 'none';
  transactions: CreatedTransactions;
  /** A valid body, for tests, the sandbox page and the reference. */
  example: object;
}

/** Creates, changes or removes something, without a payment from our wallets now. */
type WriteRow = MovingRow | UnmovingRow;

interface CommonWriteRow extends CommonRow {
  effect: 'write';
  input: 'body';
  coverage: CoverageList | 'none';
  example: object;
}

/** The call moves the value of a named transaction, so it counts like a payment of that amount. */
interface MovingRow extends CommonWriteRow {
  moves: 'named_transaction';
  items: Items;
  transactions: ChangedTransaction;
}

interface UnmovingRow extends CommonWriteRow {
  moves: 'nothing';
  items: Items | 'none';
  /**
   * `none`: the upstream's listing shows nothing of the call, so a person settles every call in doubt. A 500
   * with the error envelope is then trusted, because no later evidence could confirm it.
   */
  transactions: CreatedTransactions | ChangedTransaction | 'none';
}

/** Nothing changes, so the call may be sent again. */
interface ReadRow extends CommonRow {
  effect: 'read';
  /** Location of the input. */
  input: 'body' | 'query' | 'none';
  /** Whether answers are cached and shared, because they are the same for all clients. */
  cached: boolean;
  example: object;
}

/** A list of the upstream's destinations. */
export type CoverageList = 'GET /info/airtime-countries' | 'GET /info/mobile-money-codes';

/** The location of a body's items, and the meaning of their fields. */
export interface Items {
  /** The field that lists the items, or `the_body` if the body is the only item. */
  in: string;
  /** The recipient: the first of these fields in an item. `nobody`: its people are recorded, but not paid. */
  recipient: readonly RecipientKind[] | 'nobody';
  /** The interface's name of each field that records, limits and searches use. */
  fields: Readonly<Partial<Record<ItemField, string>>>;
  /** The interface's other fields of an item. They stay in the body. */
  unrecorded: readonly string[];
  /** The field for our ID if the caller leaves it empty. The upstream lists it with the transaction. */
  ownId: OwnIdField | 'nowhere';
}

/** A field for an ID of ours. Fields of `each_item` get the ID of the payout, others that of the call. */
interface OwnIdField {
  field: string;
  of: 'each_item' | 'the_body';
  form: keyof typeof ID_FORMS;
}

/** Items that are paid. Each states its amount. */
interface PaidItems extends Items {
  recipient: readonly RecipientKind[];
  fields: Items['fields'] & Readonly<Record<'amountUsd', string>>;
}

export type ItemField =
  | RecipientKind
  | 'amountUsd'
  | 'country'
  | 'networkCode'
  | 'reference'
  | 'wallet'
  | 'upstreamRef';

/** The upstream's listing shows transactions of this kind. They identify a call in doubt. */
interface CreatedTransactions {
  creates: TransactionKind;
  /** Whether a successful answer names a transaction for each item. */
  namedInAnswer: boolean;
}

/** The call changes the one transaction that its item names. */
interface ChangedTransaction {
  changes: Change;
}

/** The effect on a transaction that a call changes. */
export type Change = 'deleted' | 'redeemed';

/** Classes of operations with similar deadlines. */
export const DEADLINE_CLASSES = ['payout', 'change', 'lookup', 'listing'] as const;
type DeadlineClass = (typeof DEADLINE_CLASSES)[number];
