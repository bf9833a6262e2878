import { Injectable } from '@nestjs/common';
import { findingNow } from '../../journal/reconciliation/finding-steps';
import { IntentDocument } from '../../journal/records/documents';
import { ReaderPrisma } from '../../platform/database/pools/reader-prisma';
import { uuidTime } from '../../platform/database/uuid';
import { AccessesService } from '../access-log/accesses.service';
import { ActivityService } from '../access-log/activity.service';
import { REMEMBERED_AFTER_ERASURE_MS } from '../log/signed-records';
import { ledgerEntriesOf } from '../records/items';
import { RecordAnomaly, anomaliesOf } from '../records/record-anomalies';
import { RecordsService } from '../records/records.service';
import { FullStoredCall } from '../records/rows';
import { CallDifference, CallTimeline, RecordSeal } from './timeline.dto';

const NEWEST_DIFFERENCES = 100;

/** Returns all records of a call. */
@Injectable()
export class TimelineService {
  constructor(
    private readonly prisma: ReaderPrisma,
    private readonly records: RecordsService,
    private readonly accesses: AccessesService,
    private readonly activity: ActivityService,
  ) {}

  async read(id: string, reveal: boolean): Promise<CallTimeline | undefined> {
    const found = await this.records.findCall(id, reveal);
    if (!found) return undefined;
    const { record, stored } = found;
    const [anomalies, differences, seals, acts, { accesses, count }] = await Promise.all([
      this.anomalies(stored ?? (await this.records.readStored(record.id))),
      this.differences(record.id, reveal),
      this.seals(record.id),
      this.activity.before(record, reveal),
      this.accesses.ofCall(record.id, reveal),
    ]);
    const ledger = stored?.payouts.flatMap((payout) => ledgerEntriesOf(stored, payout, reveal)) ?? [];
    const seen = { anomalies, ledger, reconciliation_findings: differences, acts_before: acts, seals };
    return { ...record, ...seen, accesses: { count, newest: accesses } };
  }

  private async differences(callId: string, seesPeople: boolean): Promise<CallDifference[]> {
    return this.prisma.$queryRaw<CallDifference[]>`
      SELECT f.id::text, f.category, f.position, coalesce(step.state, 'open') AS state,
        trim_scale(sight.impact_usd)::text AS impact_usd, f.found_at
      FROM finding f ${findingNow(seesPeople)} WHERE f.call_id = ${callId}::uuid
      ORDER BY f.id DESC LIMIT ${NEWEST_DIFFERENCES}`;
  }

  private async anomalies(call: FullStoredCall | null): Promise<RecordAnomaly[]> {
    if (!call) return [];
    const refused = (await this.prisma.refusal.count({ where: { id: call.intent.id } })) > 0;
    const anomalies = anomaliesOf({ call, refused, gone: new Set() });
    if (!anomalies.some(({ code }) => code.endsWith('_missing') || code === 'actor_changed'))
      return anomalies;
    return anomaliesOf({ call, refused, gone: await this.gone(call.intent) });
  }

  /** Returns the places of this call emptied by erasures and prunings. */
  private async gone({
    id,
    person_id: personId = '',
    recorded_at: recordedAt,
  }: IntentDocument): Promise<Set<string>> {
    const month = uuidTime(id).toISOString().slice(0, 7);
    const [erased, pruned] = await Promise.all([
      this.prisma.$queryRaw<{ place: string }[]>`
        SELECT place FROM erasure, unnest(places) AS place
        WHERE split_part(place, '/', 2) = ${id}
          OR (place = ${`person/${personId}`} AND erased_at > ${erasedAfter(recordedAt)})`,
      this.prisma.pruning.count({ where: { month, NOT: { kept: { has: id } } } }),
    ]);
    const emptied = ['intent_body', 'outcome_body', 'idempotency_key', 'item_recipient'];
    const all = pruned === 0 ? [] : emptied.map((what) => `${what}/${id}`);
    return new Set([...erased.map(({ place }) => place), ...all]);
  }

  /** Returns the seals of a call's records. All have the call's ID, except verdicts and settlements. */
  private async seals(id: string): Promise<RecordSeal[]> {
    const rows = await this.prisma.$queryRaw<SealRow[]>`
      SELECT r.kind, l.index, encode(l.hash, 'hex') AS "leafHash", c.size, c.sealed_at AS "sealedAt"
      FROM (SELECT 1 AS place, 'intent' AS kind, ${id}::uuid AS record FROM intent WHERE id = ${id}::uuid
        UNION ALL SELECT 2, 'refusal', ${id}::uuid FROM refusal WHERE id = ${id}::uuid
        UNION ALL SELECT 3, 'decision', ${id}::uuid FROM decision WHERE intent_id = ${id}::uuid
        UNION ALL SELECT 4, 'outcome', ${id}::uuid FROM outcome WHERE intent_id = ${id}::uuid
        UNION ALL SELECT 5, 'verdict', verdict.id FROM verdict WHERE intent_id = ${id}::uuid
        UNION ALL SELECT 6, 'settlement', settlement.id FROM settlement WHERE intent_id = ${id}::uuid) AS r
      LEFT JOIN LATERAL leaves_of(r.record) l ON l.kind = r.kind
      LEFT JOIN LATERAL (
        SELECT size, sealed_at FROM checkpoint WHERE size > l.index ORDER BY size LIMIT 1
      ) AS c ON TRUE
      ORDER BY r.place, r.record`;
    return rows.map(({ kind, index, leafHash, size, sealedAt }) => ({
      kind,
      index: index === null ? null : Number(index),
      leaf_hash: leafHash,
      checkpoint_size: size === null ? null : Number(size),
      sealed_at: sealedAt,
    }));
  }
}

/** Returns the earliest time of an erasure that covers a record. */
function erasedAfter(recordedAt: string): Date {
  return new Date(Date.parse(recordedAt) - REMEMBERED_AFTER_ERASURE_MS);
}

interface SealRow {
  kind: RecordSeal['kind'];
  index: bigint | null;
  leafHash: string | null;
  size: bigint | null;
  sealedAt: Date | null;
}
