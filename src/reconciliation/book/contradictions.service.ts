import { Inject, Injectable, Logger } from '@nestjs/common';
import { MetricsService } from '../../http/metrics/metrics.service';
import { insertion } from '../../journal/records/document-sql';
import { LedgerItem } from '../../journal/settlement/ledger';
import { settleWithin } from '../../journal/settlement/settlements';
import { PayoutPlace } from '../../operations/catalogue/payout-id';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { Ground, GROUNDS } from './pairing/grounds';

/** Maximum number of transactions that the alarm about a surplus one names, the most similar first. */
const MOST_TWINS = 5;

/** Contradictions per turn. The next turn handles the rest. */
const AT_ONCE = 500;

/** A payout, and how a transaction came to it. */
export interface PayoutClaim extends PayoutPlace {
  ground: Ground;
}

interface ContradictionRow {
  id: string;
  transactionId: string;
  kind: 'owner' | 'reference' | 'id' | 'recipient' | 'type' | 'amount' | 'own_id' | 'surplus';
  upstreamRef: string | null;
  upstreamId: string | null;
  /** The payout of the transaction. */
  owner: PayoutClaim | null;
  /** The second payout, or one that the transaction contradicts. */
  claimant: PayoutClaim | null;
  /** The call whose answer names more transactions than it has payouts, and those of its payouts. */
  answered: { callId: string; twins: { name: string; payout: string }[] } | null;
  /** The other transaction of the second payout. */
  other: { id: string; ground: Ground } | null;
}

const KINDS: Record<ContradictionRow['kind'], string> = {
  owner: 'A second payout names the transaction',
  reference: 'Another transaction has the reference of the transaction',
  id: 'Another transaction has the ID of the transaction',
  recipient: 'The upstream shows the transaction with another recipient',
  type: 'The upstream shows the transaction with another type',
  amount: 'The upstream shows the transaction with another amount',
  own_id: 'The upstream shows the transaction with the ID of another call',
  surplus: 'The answer names more transactions than its call has payouts',
};

/**
 * Handles contradictions about transactions of the book. A second payout gets the transaction if its record
 * is stronger than the ground of the first, and the other payout is in doubt from then on. A payout whose
 * answer names the transaction of another payment is in doubt too. Every other contradiction changes
 * nothing. All but the first raise an alarm: an act in the activity log, an error in the process log, and a
 * metric.
 */
@Injectable()
export class ContradictionsService {
  private readonly logger = new Logger('Book');
  private readonly alarms;

  constructor(
    private readonly prisma: PrismaService,
    metrics: MetricsService,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.alarms = metrics.counter(
      'payout_proxy_contradicted_transactions_total',
      'Contradictions about transactions of the upstream, by kind. The activity log names each.',
      ['kind'],
    );
  }

  async handle(signal: AbortSignal): Promise<void> {
    const rows = await this.prisma.$queryRaw<ContradictionRow[]>`
      SELECT c.id::text, c.transaction_id::text AS "transactionId", c.kind, b.upstream_ref AS "upstreamRef",
        b.upstream_id AS "upstreamId",
        CASE WHEN b.call_id IS NOT NULL THEN json_build_object(
          'callId', b.call_id, 'position', b.position, 'ground', b.ground) END AS owner,
        CASE WHEN c.position IS NOT NULL THEN json_build_object(
          'callId', c.call_id, 'position', c.position, 'ground', coalesce(c.ground,
            'own_id')) END AS claimant,
        CASE WHEN c.kind = 'surplus' THEN json_build_object('callId', c.call_id, 'twins', ARRAY(
          SELECT json_build_object('name', coalesce(w.upstream_ref, w.upstream_id),
            'payout', w.call_id || '.' || w.position)
          FROM book_transaction w WHERE w.call_id = c.call_id AND w.id <> b.id
          ORDER BY w.amount_usd IS NOT DISTINCT FROM b.amount_usd DESC, w.position LIMIT ${MOST_TWINS}
        )) END AS answered,
        (SELECT json_build_object('id', o.id, 'ground', o.ground) FROM book_transaction o
          WHERE o.call_id = c.call_id AND o.position = c.position) AS other
      FROM book_contradiction c JOIN book_transaction b ON b.id = c.transaction_id
      WHERE c.handled_at IS NULL ORDER BY c.id LIMIT ${AT_ONCE}`;
    const some = rows.filter((row) => !changesPayouts(row));
    const groups = [some, ...rows.filter(changesPayouts).map((row) => [row])];
    for (const group of groups.filter(({ length }) => length > 0)) {
      signal.throwIfAborted();
      await this.prisma.$transaction((tx) => this.resolve(tx, group));
    }
  }

  private async resolve(tx: Prisma.TransactionClient, rows: ContradictionRow[]): Promise<void> {
    const open = await tx.$queryRaw<{ id: string }[]>`
      UPDATE book_contradiction SET handled_at = clock_timestamp()
      WHERE id = ANY (${rows.map(({ id }) => id)}::uuid[]) AND handled_at IS NULL RETURNING id::text`;
    const ids = new Set(open.map(({ id }) => id)); // Another worker may have handled some.
    const alarms: ContradictionRow[] = [];
    for (const row of rows.filter(({ id }) => ids.has(id))) {
      if (isMoved(row)) {
        await this.release(tx, row);
        continue;
      }
      if (row.claimant && changesPayouts(row))
        await doubtPayout(tx, row.claimant, REFUTED, this.settings, isByAnswer);
      alarms.push(row);
    }
    await this.alarm(tx, alarms);
  }

  /** Takes the transaction from its payout. The rules compare it with the second one, which names it. */
  private async release(tx: Prisma.TransactionClient, row: ContradictionRow): Promise<void> {
    const { transactionId, owner, other, claimant } = row;
    await releaseTransactions(tx, [transactionId, ...(other ? [other.id] : [])]);
    if (owner) await doubtPayout(tx, owner, NAMED_SINCE, this.settings);
    this.logger.warn(
      { call_id: claimant?.callId, other_call_id: owner?.callId ?? null },
      'a transaction was taken from a payout, because the record of another one names it',
    );
  }

  private async alarm(tx: Prisma.TransactionClient, rows: ContradictionRow[]): Promise<void> {
    if (rows.length === 0) return;
    await tx.$executeRaw(insertion('activity', rows.map(toAct)));
    for (const { kind, owner, claimant } of rows) {
      this.alarms.inc({ kind });
      this.logger.error(
        { kind, call_id: owner?.callId ?? null, other_call_id: claimant?.callId ?? null },
        'the upstream contradicts a transaction of the book',
      );
    }
  }
}

/** Takes transactions from their payouts. */
export async function releaseTransactions(tx: Prisma.TransactionClient, ids: string[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE book_transaction SET call_id = NULL, position = NULL, ground = NULL, attributed_at = NULL
    WHERE id = ANY (${ids}::uuid[])`;
}

/** Puts a payout in doubt, which the resolver ends. */
export async function doubtPayout(
  tx: Prisma.TransactionClient,
  { callId, position }: PayoutPlace,
  reason: string,
  timeouts: Timeouts,
  applies: (item: LedgerItem) => boolean = () => true,
): Promise<void> {
  await settleWithin(tx, callId, timeouts, ({ items, outcome, isInDoubt }) =>
    items[position] && applies(items[position]) && (outcome ?? isInDoubt)
      ? { intentId: callId, source: 'resolver', reason, entries: [{ position, entry: 'in_doubt' }] }
      : undefined,
  );
}

function toAct(row: ContradictionRow) {
  const { kind, transactionId, upstreamRef, upstreamId, owner, claimant, answered } = row;
  return {
    id: newId(),
    action: 'transaction_contradicted',
    after: JSON.stringify({
      kind,
      transaction_id: transactionId,
      upstream_id: proseAsRecorded(upstreamId),
      upstream_ref: proseAsRecorded(upstreamRef),
    }),
    via: 'worker',
    call_id: answered?.callId ?? owner?.callId ?? claimant?.callId ?? null,
    reason: reasonOf(row),
  };
}

function reasonOf(row: ContradictionRow): string {
  const { kind, owner, claimant, answered } = row;
  const twins = answered?.twins.map(({ name, payout }) => `${proseAsRecorded(name)} of payout ${payout}`);
  if (twins) return `${KINDS[kind]}. Compare the transaction with ${twins.join(', ')}.`;
  const about = owner ? ` of payout ${owner.callId}.${owner.position}` : '';
  const second = claimant ? ` (payout ${claimant.callId}.${claimant.position})` : '';
  const effect = changesPayouts(row) ? 'The answer of the payout proves nothing' : 'It changed nothing';
  return `${KINDS[kind]}${about}${second}. ${effect}.`;
}

const REFUTED =
  'The answer names the transaction of another payment, so it proves nothing about this payout.';
const NAMED_SINCE = 'The record of another payout names the transaction that was taken for that of this one.';

/** Returns whether the contradiction changes a payout. The others only raise an alarm. */
function changesPayouts(row: ContradictionRow): boolean {
  return isMoved(row) || (row.claimant !== null && row.other === null);
}

/** Returns whether the state of a payout follows from its answer, which a contradiction refutes. */
function isByAnswer({ postings }: LedgerItem): boolean {
  return postings.findLast(({ entry }) => entry !== 'fee')?.source === 'answer';
}

/** Returns whether the record of the second payout outweighs the grounds that it contradicts. */
function isMoved({ kind, claimant, owner, other }: ContradictionRow): boolean {
  if (kind !== 'owner' || claimant === null || owner === null) return false;
  return [owner, other].every((one) => one === null || GROUNDS[claimant.ground] > GROUNDS[one.ground]);
}
