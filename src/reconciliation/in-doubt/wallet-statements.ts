import { Decimal } from 'decimal.js';
import { PrismaService } from '../../platform/database/pools/prisma.service';

/** Tolerance for balances, which are floats (docs/reference/upstream.md, trap 3). Every payment is larger. */
const NOISE_USD = new Decimal('0.000001');

/** An entry of a wallet. The upstream may omit any of its members. */
export interface StatementEntry {
  at: Date | string | null;
  before: Decimal.Value | null;
  after: Decimal.Value | null;
}

/** A wallet with its entries, newest first. */
export interface WalletStatement {
  id: string;
  type: string | null;
  balance: Decimal.Value | null;
  entries: StatementEntry[];
}

/** Proof by one reading of the account's wallets. Amounts have an undocumented unit and are not compared. */
export class WalletStatements {
  /**
   * @param readId ID of the reading.
   * @param walletOf the wallet, by type or ID, that each operation is paid from. Other operations may be paid
   * from any wallet.
   */
  constructor(
    readonly readId: string,
    private readonly statements: readonly WalletStatement[],
    private readonly walletOf: ReadonlyMap<string, string>,
  ) {}

  /** Returns whether no wallet that an operation may be paid from can have a debit since a time. */
  showNoDebitSince(since: Date, operation: string): boolean {
    const name = this.walletOf.get(operation);
    const concerned = this.statements.filter(
      ({ id, type }) => name === undefined || name === id || name === type,
    );
    return concerned.length > 0 && concerned.every((statement) => showsNoDebitSince(since, statement));
  }

  /** Returns whether a wallet has a debit since a time. */
  showDebitSince(since: Date): boolean {
    return this.statements.some(({ entries }) =>
      entries.some((entry) => isDebit(entry) && new Date(entry.at ?? since) >= since),
    );
  }
}

/**
 * Follows the balance back to the time, entry by entry. A statement with a gap, or one that does not reach
 * back that far, proves nothing.
 */
function showsNoDebitSince(since: Date, { balance, entries }: WalletStatement): boolean {
  let expected = balance;
  for (const entry of entries) {
    const { at, before, after } = entry;
    if (expected === null || at === null || before === null || after === null || !isSame(after, expected))
      return false;
    if (new Date(at) < since) return true;
    if (isDebit(entry)) return false;
    expected = before;
  }
  // The wallet was empty before its first entry.
  return expected !== null && isSame(expected, 0);
}

function isDebit({ before, after }: StatementEntry): boolean {
  return before !== null && after !== null && new Decimal(before).minus(after).greaterThan(NOISE_USD);
}

function isSame(one: Decimal.Value, other: Decimal.Value): boolean {
  return new Decimal(one).minus(other).abs().lessThanOrEqualTo(NOISE_USD);
}

/** Reads the statements of a complete reading. */
export async function readStatements(prisma: PrismaService, readId: string): Promise<WalletStatement[]> {
  return prisma.$queryRaw`
    SELECT w.wallet_id AS id, w.type, w.balance::text AS balance,
      coalesce(json_agg(
        json_build_object('at', e.entered_at, 'before', e.balance_before::text, 'after', e.new_balance::text)
        ORDER BY e.ordinal) FILTER (WHERE e.ordinal IS NOT NULL), '[]') AS entries
    FROM upstream_wallet w
    LEFT JOIN upstream_wallet_entry e ON e.read_id = w.read_id AND e.wallet_id = w.wallet_id
    WHERE w.read_id = ${readId}::uuid GROUP BY w.wallet_id, w.type, w.balance`;
}
