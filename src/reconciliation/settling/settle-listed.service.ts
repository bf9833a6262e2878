import { Inject, Injectable, Logger } from '@nestjs/common';
import { Decimal } from 'decimal.js';
import { Transaction } from '../../gateway/upstream/answers/transactions';
import { IndexService } from '../../history/search/index.service';
import { ChargedFee, ExpectedFees } from '../../journal/admission/expected-fees';
import { TAGS, termOf } from '../../journal/lookups/search-terms';
import { NewEntry, NewSettlement, evidenceOfTransaction } from '../../journal/records/records';
import { settle, SettledCall } from '../../journal/settlement/settlements';
import { CREATED_BY, CREATING } from '../../operations/items/effects';
import { readFeeRule } from '../../operations/items/fees';
import { Source } from '../../operations/lifecycle/settlement';
import { StatusVocabulary } from '../../operations/lifecycle/statuses';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { asRecorded } from '../../platform/privacy/recorded';
import { changesOf, ListedPayout } from './listed-payout';

/** Transactions per query. */
const AT_ONCE = 500;

type RowFields = 'upstreamRef' | 'upstreamId' | 'batchRef' | 'issuedAt' | 'status';

interface ListedRow extends Pick<Transaction, RowFields> {
  ordinal: bigint;
  fee: string | null;
}

/** Result of settling by one reading. */
export interface SettledRead {
  /** Number of transactions that belong to our payouts. */
  known: number;
  /** Number of settled calls. */
  settled: number;
  /** Positions and names of the transactions that no record of ours has. */
  unclaimed: Map<bigint, string | null>;
}

/** Sources of settlements without a person. */
type AutomaticSource = Extract<Source, 'poll' | 'event' | 'reconciliation'>;

const REASONS: Record<AutomaticSource, string> = {
  poll: 'The upstream lists the payout with this status now.',
  event: 'The upstream announced a change, and states this status when asked.',
  reconciliation: 'A reconciliation run found that the upstream lists the payout with this status.',
};

/** Settles payouts by new statuses of their transactions. */
@Injectable()
export class SettleListedService {
  private readonly logger = new Logger('FollowUp');
  private readonly vocabulary: StatusVocabulary;

  constructor(
    private readonly prisma: PrismaService,
    private readonly index: IndexService,
    private readonly fees: ExpectedFees,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {
    this.vocabulary = StatusVocabulary.with(this.settings.upstreamStatusWords);
  }

  /** @param readId ID of the reading, whose transactions are kept. */
  async run(readId: string, source: AutomaticSource, signal: AbortSignal): Promise<SettledRead> {
    await this.index.catchUp();
    const result: SettledRead = { known: 0, settled: 0, unclaimed: new Map() };
    for (let after = -1n; !signal.aborted;) {
      const rows = await this.rowsWhere(readId, Prisma.sql`ordinal > ${after}`);
      const last = rows.at(-1);
      if (!last) break;
      after = last.ordinal;
      const byCall = await this.byCall(readId, rows);
      const known = new Set([...byCall.values()].flat());
      for (const row of rows) {
        if (!known.has(row)) result.unclaimed.set(row.ordinal, row.upstreamRef ?? row.upstreamId);
      }
      result.known += known.size;
      result.settled += await this.settleAll(byCall, readId, source, signal);
    }
    return result;
  }

  /** Settles the differences found by a run, if the transactions certainly belong to the payouts. */
  async runFindings(runId: string, signal: AbortSignal): Promise<void> {
    await this.index.catchUp();
    const found = await this.prisma.$queryRaw<{ readId: string; ordinal: bigint }[]>`
      SELECT s.evidence -> 'theirs' ->> 'read_id' AS "readId",
        (s.evidence -> 'theirs' ->> 'ordinal')::bigint AS ordinal
      FROM finding_sight s JOIN finding f ON f.id = s.finding_id
      WHERE s.run_id = ${runId}::uuid AND f.call_id IS NOT NULL
        AND s.evidence -> 'match' ->> 'certainty' = 'certain'
        AND s.evidence -> 'theirs' ->> 'read_id' IS NOT NULL
      ORDER BY 1, 2`;
    for (let first = 0; first < found.length; first += AT_ONCE) {
      const batch = found.slice(first, first + AT_ONCE);
      for (const readId of new Set(batch.map((row) => row.readId))) {
        const ordinals = batch.flatMap((row) => (row.readId === readId ? [row.ordinal] : []));
        const rows = await this.rowsWhere(readId, Prisma.sql`ordinal = ANY (${ordinals}::bigint[])`);
        await this.settleAll(await this.byCall(readId, rows), readId, 'reconciliation', signal);
      }
    }
  }

  private async settleAll(
    byCall: Map<string, ListedRow[]>,
    readId: string,
    source: AutomaticSource,
    signal: AbortSignal,
  ): Promise<number> {
    let settled = 0;
    for (const [callId, listed] of byCall) {
      signal.throwIfAborted();
      if (await this.settle(callId, listed, readId, source)) settled += 1;
    }
    return settled;
  }

  private rowsWhere(readId: string, which: Prisma.Sql): Promise<ListedRow[]> {
    return this.prisma.$queryRaw`
      SELECT ordinal, upstream_ref AS "upstreamRef", upstream_id AS "upstreamId", batch_ref AS "batchRef",
        issued_at AS "issuedAt", status, fee_usd::text AS fee
      FROM upstream_transaction
      WHERE read_id = ${readId}::uuid AND ${which}
      ORDER BY ordinal LIMIT ${AT_ONCE}`;
  }

  /**
   * Finds the calls that may have created these transactions. Accounts do not trust each other: a listing
   * settles no call of another account.
   */
  private async byCall(readId: string, rows: ListedRow[]): Promise<Map<string, ListedRow[]>> {
    const byTerm = new Map(
      rows.flatMap((row) => namesOf(row).map((name) => [termOf(TAGS.ref, name), row] as const)),
    );
    const terms = [...byTerm.keys()];
    const found = await this.prisma.$queryRaw<{ id: string; terms: string[] }[]>`
      SELECT call_id::text AS id,
        ARRAY(SELECT unnest(terms) INTERSECT SELECT unnest(${terms}::text[])) AS terms
      FROM indexed_call LEFT JOIN client ON client.id = client_id
      WHERE terms && ${terms}::text[] AND indexed_call.operation = ANY (${CREATING}::text[])
        AND nullif(account, ${MAIN_ACCOUNT})
          IS NOT DISTINCT FROM (SELECT account FROM source_read WHERE id = ${readId}::uuid)
      ORDER BY 1`;
    const rowsOf = (shared: string[]) => [...new Set(shared.flatMap((term) => byTerm.get(term) ?? []))];
    return new Map(found.map(({ id, terms: shared }) => [id, rowsOf(shared)]));
  }

  private async settle(
    callId: string,
    rows: ListedRow[],
    readId: string,
    source: AutomaticSource,
  ): Promise<boolean> {
    let charged: ChargedFee[] = [];
    let intent: SettledCall['intent'] | undefined;
    const settled = await settle(this.prisma, callId, this.settings, (call) => {
      const entries = this.entriesOf(call, rows);
      ({ intent } = call);
      charged = chargedBy(entries, call);
      return entries.length === 0 ? undefined : toSettlement(callId, entries, readId, source);
    });
    if (settled !== 'written') return false;
    this.logger.log({ call_id: callId, source }, 'payouts settled by their listed transactions');
    if (intent && charged.length > 0) await this.fees.observe(toCharged(callId, intent), charged);
    return true;
  }

  private entriesOf(call: SettledCall, rows: ListedRow[]): NewEntry[] {
    // Without an answer, the resolver assigns the transactions.
    if (!call.outcome) return [];
    const created = CREATED_BY.get(call.intent.operation);
    // Records mask contacts, so names are compared in their recorded form.
    const byRef = new Map(call.items.map((item) => [item.transaction?.upstream_ref, item]));
    const byId = new Map(call.items.map((item) => [item.transaction?.upstream_id, item]));
    return rows.flatMap((row) => {
      const { upstream_ref: ref, upstream_id: id } = evidenceOfTransaction(row, null);
      const named = id === null ? undefined : byId.get(id);
      // The ID decides only if one side has no reference.
      const isById = ref === null || named?.transaction?.upstream_ref === null;
      const item = (ref === null ? undefined : byRef.get(ref)) ?? (isById ? named : undefined);
      return item ? changesOf(item, this.toListed(item.position, row), created) : [];
    });
  }

  private toListed(position: number, row: ListedRow): ListedPayout {
    return {
      position,
      meaning: this.vocabulary.statusOf(row.status),
      feeUsd: row.fee === null ? null : new Decimal(row.fee),
      transaction: evidenceOfTransaction(row, row.issuedAt),
    };
  }
}

/** Returns a call whose fees are observed. */
function toCharged(
  id: string,
  { account = MAIN_ACCOUNT, operation, expected_fee: fee }: SettledCall['intent'],
) {
  return { id, account, operation, rule: (fee && readFeeRule(fee)) || null };
}

/** Returns the fees of the payouts after these entries. */
function chargedBy(entries: NewEntry[], { items }: SettledCall): ChargedFee[] {
  return entries.flatMap(({ position, entry, amountUsd: more }) => {
    const item = items[position];
    return entry === 'fee' && item && more
      ? [{ amountUsd: item.amountUsd, feeUsd: item.feeUsd.plus(more) }]
      : [];
  });
}

function namesOf({ upstreamRef, upstreamId }: ListedRow): string[] {
  return [upstreamRef, upstreamId].flatMap((name) => asRecorded(name) ?? []);
}

function toSettlement(
  intentId: string,
  entries: NewEntry[],
  readId: string,
  source: AutomaticSource,
): NewSettlement {
  return {
    intentId,
    source,
    reason: REASONS[source],
    entries,
    evidence: { reads: [readId], calls: [] },
  };
}
