import type { AnswerName } from './answers';
import type { ID_FORMS } from './payout-id';
import { RecipientKind } from '../../recipients/recipient';
import { TransactionKind } from './transactions';

/**
 * Everything the proxy knows about one operation of the interface. No property is optional: a row that leaves one out does
 * not compile.
 */
export type OperationRow = PayRow | WriteRow | ReadRow;

/** What an operation does to money and data. It is also the scope that a key needs. */
export type Effect = OperationRow['effect'];

interface CommonRow {
  /** The title of the operation: a few words. */
  title: string;
  /**
   * Whose objects the operation can touch or show. The upstream has one account and knows no owners, so the proxy decides:
   * - `own`: what the call itself creates, or what is the same for everyone.
   * - a named object: without the scope `account`, a key reaches only those that its own client made.
   * - `transactions`: lists them. Without the scope `account`, the answer has only those that its own client made.
   * - `account`: everything in the account. Keys need the scope `account`.
   */
  reach: 'own' | NamedObject | 'transactions' | 'account';
  /** The class of its deadline. UPSTREAM_TIMEOUTS sets a deadline for a class or for one operation. */
  deadline: DeadlineClass;
  /** The content of a successful answer. */
  answer: AnswerName;
}

/** The field of an input that names a transaction, a batch of them or a sub-account, and the ID that it has. */
export interface NamedObject {
  in: string;
  names: TransactionId | 'subAccountId';
}

/** Our names of the IDs by which the upstream knows a transaction. Those of a batch have the same `batchRef`. */
export type TransactionId = 'upstreamRef' | 'upstreamId' | 'batchRef';

/**
 * Value leaves a wallet. The call counts against caps, and its transactions can be recognized if the answer is lost.
 */
interface PayRow extends CommonRow {
  effect: 'pay';
  input: 'body';
  items: PaidItems;
  coverage: CoverageList | 'none';
  transactions: CreatedTransactions;
  /** A valid body. Tests send it, the sandbox page offers it, and the reference shows it. */
  example: object;
}

/** Something is created, changed or removed, and none of our wallets pays for it now. */
type WriteRow = MovingRow | UnmovingRow;

interface CommonWriteRow extends CommonRow {
  effect: 'write';
  input: 'body';
  coverage: CoverageList | 'none';
  example: object;
}

/** The call moves the value of the transaction that it names, so it counts like a payment of that amount. */
interface MovingRow extends CommonWriteRow {
  moves: 'named_transaction';
  items: Items;
  transactions: ChangedTransaction;
}

interface UnmovingRow extends CommonWriteRow {
  moves: 'nothing';
  items: Items | 'none';
  /**
   * `none`: the upstream's listing shows nothing of the call, so a person settles every call in doubt. A 500 with the error
   * envelope is then believed, because nothing could ever confirm it.
   */
  transactions: CreatedTransactions | ChangedTransaction | 'none';
}

/** Nothing changes, so the call may be sent again. */
interface ReadRow extends CommonRow {
  effect: 'read';
  /** The place of the input. */
  input: 'body' | 'query' | 'none';
  /** Whether answers are cached and shared by all clients, because they are the same for all. */
  cached: boolean;
  example: object;
}

/** A list of the destinations that the upstream serves. */
export type CoverageList = 'GET /info/airtime-countries' | 'GET /info/mobile-money-codes';

/** Where the items of a body are, and what their fields mean. */
export interface Items {
  /** The field that lists the items, or `the_body` if the body is itself the one item. */
  in: string;
  /**
   * The recipient: the first of these fields that an item has. `nobody`: the people in it are recorded, but not paid.
   */
  recipient: readonly RecipientKind[] | 'nobody';
  /** The interface's name of each field that records, limits and searches use. */
  fields: Readonly<Partial<Record<ItemField, string>>>;
  /** The interface's other fields of an item. They stay in the body. */
  unrecorded: readonly string[];
  /** The field that gets an ID of ours if the caller leaves it empty. The upstream lists it with the transaction. */
  ownId: OwnIdField | 'nowhere';
}

/** A field with room for an ID of ours. Fields of `each_item` get the ID of the payout, others that of the call. */
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

/** The upstream's listing shows transactions of this kind. A call in doubt is recognized by them. */
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
