import { randomUUID } from 'node:crypto';
import Decimal from 'decimal.js';
import { Database, Work } from '../database';
import { Refusal } from '../http/envelope';

export const WALLET_TYPES = ['chi', 'momo', 'airtime'] as const;
export type WalletType = (typeof WALLET_TYPES)[number];

interface WalletName {
  accountId: string;
  type: WalletType;
}

/**
 * The sandbox's own accounts: the outside world, payments to telcos and others, recipients' credits, and the
 * service's earnings. They have no running balance and may be negative.
 */
const OWN_ACCOUNTS = ['outside', 'payouts', 'issued credit', 'fees'] as const;
export type OwnAccount = (typeof OWN_ACCOUNTS)[number];

/** One side of a posting: signed US dollars, negative when value leaves the account. */
export interface Entry {
  account: WalletName | OwnAccount;
  usd: Decimal;
}

/** Entries that are written together. They sum to zero, or the database rejects them. */
export interface Posting {
  description: string;
  /** At most one of them debits a wallet. */
  entries: Entry[];
}

/** Thrown by {@link postAll} if wallets hold too little. The database transaction must not be committed. */
export class Overdrawn extends Error {
  /** @param refusals the postings that the money does not suffice for, in their order. */
  constructor(readonly refusals: Map<Posting, Refusal>) {
    super('a wallet holds too little');
  }
}

/**
 * Writes a posting.
 * @throws Refusal if the wallet holds too little. `work` must then not be committed.
 */
export async function post(work: Work, description: string, entries: Entry[]): Promise<void> {
  const posting = { description, entries };
  try {
    await postAll(work, [posting]);
  } catch (error) {
    throw (error instanceof Overdrawn && error.refusals.get(posting)) || error;
  }
}

/**
 * Writes postings in their order: the only writer of money.
 *
 * Locks are taken in one order, so that operations cannot deadlock: rows of `transactions` by ID
 * (transactions/status.ts), arrivals by position (arrivals/arrivals.ts), then wallets by ID (here). Postings
 * are therefore the last step of an operation.
 * @throws Overdrawn if wallets hold too little for some of them.
 */
export async function postAll(work: Work, postings: Posting[]): Promise<void> {
  const netted = postings.map((posting) => ({ ...posting, entries: merged(posting.entries) }));
  const wallets = await lockWallets(work, netted);
  const refusals = new Map<Posting, Refusal>();
  const rows: EntryRow[] = [];
  for (const [index, posting] of netted.entries()) {
    const shortage = shortageOf(posting, wallets);
    if (shortage) refusals.set(postings[index] as Posting, shortage);
    else rows.push(...posting.entries.map((entry) => rowOf(posting, index, entry, wallets)));
  }
  if (refusals.size > 0) throw new Overdrawn(refusals);
  if (rows.length > 0) await write(work, rows, wallets);
}

/** Returns one entry per account, without empty ones. */
function merged(entries: Entry[]): Entry[] {
  const sums = new Map<string, Entry>();
  for (const { account, usd } of entries) {
    const name = typeof account === 'string' ? account : nameOf(account);
    sums.set(name, { account, usd: usd.plus(sums.get(name)?.usd ?? 0) });
  }
  return [...sums.values()].filter(({ usd }) => !usd.isZero());
}

function nameOf({ accountId, type }: WalletName): string {
  return `${accountId} ${type}`;
}

/** A locked wallet with its balance after the postings so far. */
interface LockedWallet {
  id: string;
  balance: Decimal;
}

type Wallets = Map<string, LockedWallet>;

/** Locks the wallets of postings and reads their balances. After a wait, it sees the new balance. */
async function lockWallets(work: Work, postings: Posting[]): Promise<Wallets> {
  const named = postings.flatMap(({ entries }) => entries.map(({ account }) => account));
  const wallets = new Map(
    named.flatMap((account) => (typeof account === 'string' ? [] : [[nameOf(account), account]])),
  );
  if (wallets.size === 0) return new Map();
  const accountIds = [...wallets.values()].map(({ accountId }) => accountId);
  const types = [...wallets.values()].map(({ type }) => type);
  const rows = await work.$queryRaw<(WalletName & { id: string; balance: string })[]>`
    SELECT id, account_id AS "accountId", type, balance::text
    FROM wallets JOIN unnest(${accountIds}::text[], ${types}::text[]) AS named (account_id, type)
      USING (account_id, type)
    ORDER BY id FOR UPDATE OF wallets`;
  return new Map(
    rows.map(({ id, balance, ...name }) => [nameOf(name), { id, balance: new Decimal(balance) }]),
  );
}

/** Returns why a wallet cannot pay a posting. Undefined if it can. */
function shortageOf({ entries }: Posting, wallets: Wallets): Refusal | undefined {
  for (const { account, usd } of entries) {
    if (typeof account === 'string' || !usd.isNegative()) continue;
    const wallet = wallets.get(nameOf(account));
    if (!wallet?.balance.plus(usd).greaterThanOrEqualTo(0))
      return new Refusal(`insufficient funds in the ${account.type} wallet`);
  }
  return undefined;
}

/** A row of `ledger_entries`. Amounts are decimal text. */
interface EntryRow {
  /** Position of its posting. */
  place: number;
  wallet_id?: string;
  own_account?: OwnAccount;
  amount: string;
  balance_before?: string;
  new_balance?: string;
  description: string;
}

/** Returns the row of an entry, and changes the balance of its wallet. */
function rowOf({ description }: Posting, place: number, { account, usd }: Entry, wallets: Wallets): EntryRow {
  const row = { place, amount: usd.toFixed(), description };
  if (typeof account === 'string') return { ...row, own_account: account };
  const wallet = wallets.get(nameOf(account));
  if (!wallet) throw new Error('the wallet does not exist'); // Otherwise value would vanish.
  const before = wallet.balance;
  wallet.balance = before.plus(usd);
  const [balance_before, new_balance] = [before.toFixed(), wallet.balance.toFixed()];
  return { ...row, wallet_id: wallet.id, balance_before, new_balance };
}

async function write(work: Work, rows: EntryRow[], wallets: Wallets): Promise<void> {
  const balances = [...wallets.values()].map(({ id, balance }) => ({ id, balance: balance.toFixed() }));
  await work.$executeRaw`
    WITH entry AS (
      SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS entry (
        place integer, wallet_id text, own_account text, amount numeric, balance_before numeric,
        new_balance numeric, description text)
    ),
    posting AS MATERIALIZED (
      SELECT place, nextval('ledger_postings') AS id FROM (SELECT DISTINCT place FROM entry ORDER BY place)
    ),
    changed AS (
      UPDATE wallets SET balance = change.balance
      FROM json_to_recordset(${JSON.stringify(balances)}::json) AS change (id text, balance numeric)
      WHERE wallets.id = change.id
    )
    INSERT INTO ledger_entries
      (posting_id, wallet_id, own_account, amount, balance_before, new_balance, description, date)
    SELECT posting.id, wallet_id, own_account, amount, balance_before, new_balance, description,
      clock_timestamp()
    FROM entry JOIN posting USING (place) ORDER BY place`;
}

/** Creates the wallets of an account, each with `opening` US dollars from outside. */
export async function openWallets(work: Work, accountId: string, opening: Decimal): Promise<void> {
  await work.wallet.createMany({
    data: WALLET_TYPES.map((type) => ({ id: randomUUID(), accountId, type, balance: 0 })),
  });
  for (const type of WALLET_TYPES)
    await post(work, 'opening balance', [
      { account: 'outside', usd: opening.negated() },
      { account: { accountId, type }, usd: opening },
    ]);
}

/**
 * Returns a consistent view of the ledger: each wallet's running balance, each own account's sum of entries,
 * and the sum of all, which must be "0". US dollars are decimal text.
 */
export async function ledgerOf(database: Database) {
  const accounts = await database.$queryRaw<{ account: string; type: string; balance: string }[]>`
    SELECT account_id AS account, type, trim_scale(balance)::text AS balance FROM wallets
    UNION ALL
    SELECT 'sandbox', own.account, trim_scale(coalesce(sum(amount), 0))::text
    FROM unnest(${[...OWN_ACCOUNTS]}::text[]) AS own (account)
      LEFT JOIN ledger_entries ON own_account = own.account
    GROUP BY own.account
    ORDER BY account, type`;
  const sum = accounts.reduce((total, { balance }) => total.plus(balance), new Decimal(0));
  return { sum: sum.toFixed(), accounts };
}
