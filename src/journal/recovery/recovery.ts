import { IS_QUEUED } from '../../operations/lifecycle/lifecycle-sql';
import { MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { copiesInBatches } from '../copies/copies-reader';
import { CopiedLine } from '../copies/local-copies';
import { doubtQueued } from '../queue/queue';
import { definitionsSql, namesSql, stampedSql } from '../records/document-sql';
import { CLAIMED_KEY } from '../records/intents';
import { OUTCOME_COLUMNS } from '../records/outcome-rows';
import { INTENT_COLUMNS } from '../records/request-members';
import { giveKeysBack } from '../settlement/double-payments';
import { NO_PROCESS } from '../stops/recovery-gap';
import {
  doubtRejected,
  restoreSpooledOutcomes,
  settleByCopies,
  columnsOf,
  outcomeColumnsOf,
  restorePersons,
} from './recovered-records';

/** The missing records that were restored from DATA_DIRs. */
export interface RecoveryReport {
  /** Calls with their keys and reservations. */
  calls: number;
  outcomes: number;
  approvals: number;
  /** Unreadable lines, such as the last one of a killed process, and unreadable files of outcomes. */
  unreadable: number;
}

/**
 * Restores missing calls from the copies in the given DATA_DIRs: their records, keys, contents, reservations
 * and known outcomes. A call without an outcome is then in doubt, also if it was queued, and the upstream's
 * list settles it like any other. Outcomes that an instance could not write (DATA_DIR/outcomes) are written
 * too, with their answers if the database has the requests. Keeps existing rows, so it can be repeated.
 *
 * Restored records have the member `recovered`. They have no bodies and recipients, nor commitments to them.
 */
export async function restoreFromCopies(
  prisma: PrismaService,
  dataDirs: string[],
  timeouts: Timeouts,
  onProgress: (lines: number) => void = () => undefined,
): Promise<RecoveryReport> {
  const recovered: RecoveryReport = { calls: 0, outcomes: 0, approvals: 0, unreadable: 0 };
  const restore = async (kind: CopiedLine['kind']) => {
    let lines = 0;
    await copiesInBatches(dataDirs, kind, async (batch) => {
      recovered[COUNTED_AS[kind]] += await RESTORE[kind](prisma, batch);
      if (kind === 'outcome') await settleByCopies(prisma, batch, timeouts);
      onProgress((lines += batch.length));
    });
  };
  // Intents first: their outcomes and approvals may be in another instance's copy or on another day.
  await restore('intent');
  await orderContents(prisma);
  await restore('approval');
  // Before the copies, because copies lack answers.
  const spooled = await restoreSpooledOutcomes(prisma, dataDirs, timeouts);
  await restore('outcome');
  await doubtQueued(prisma); // after the outcomes, which show that a call was sent
  const unreadable = await copiesInBatches(dataDirs, 'intent', async (batch) => {
    await giveKeysBack(prisma, await restorePersons(prisma, batch));
  });
  recovered.outcomes += spooled.outcomes;
  recovered.unreadable = unreadable + spooled.unreadable;
  return recovered;
}

/** The columns that repeat members. */
const NAMES = {
  intent: Prisma.raw(namesSql(INTENT_COLUMNS)),
  outcome: Prisma.raw(namesSql(OUTCOME_COLUMNS)),
};
const DEFINITIONS = {
  intent: Prisma.raw(definitionsSql(INTENT_COLUMNS)),
  outcome: Prisma.raw(definitionsSql(OUTCOME_COLUMNS)),
};

const COUNTED_AS = { intent: 'calls', approval: 'approvals', outcome: 'outcomes' } as const;

const RESTORE: Record<CopiedLine['kind'], (prisma: PrismaService, lines: CopiedLine[]) => Promise<number>> = {
  intent: restoreIntents,
  approval: restoreApprovals,
  outcome: restoreOutcomes,
};

/** Counts restored `intents` on the caps of their clients, persons and ephemeral keys. */
const SPENT = Prisma.sql`spent AS (
      INSERT INTO spending (client_id, day, usd)
      SELECT client_id, reserved_on, sum(total_usd + coalesce(expected_fee_usd, 0)) FROM intents
      WHERE reserved_on IS NOT NULL AND total_usd IS NOT NULL GROUP BY client_id, reserved_on
      ON CONFLICT (client_id, day) DO UPDATE SET usd = spending.usd + EXCLUDED.usd
    ), spent_by_payers AS (
      INSERT INTO payer_spending (payer_id, day, usd)
      SELECT payer_id, reserved_on, sum(total_usd + coalesce(expected_fee_usd, 0))
      FROM intents CROSS JOIN LATERAL unnest(ARRAY[person_id, ephemeral_key_id]) AS payer_id
      WHERE payer_id IS NOT NULL AND reserved_on IS NOT NULL AND total_usd IS NOT NULL
      GROUP BY payer_id, reserved_on
      ON CONFLICT (payer_id, day) DO UPDATE SET usd = payer_spending.usd + EXCLUDED.usd
    )`;

async function restoreIntents(prisma: PrismaService, lines: CopiedLine[]): Promise<number> {
  const known = await restorePersons(prisma, lines);
  const rows = known.flatMap((line) => (line.kind === 'intent' ? columnsOf(line) : []));
  return prisma.$transaction(async (tx) => {
    const restored = await tx.$queryRaw<{ id: string }[]>`
    WITH calls AS MATERIALIZED (
      SELECT * FROM json_to_recordset(${JSON.stringify(rows)}::json) AS t(${DEFINITIONS.intent},
        idempotency_key text, claim_key text, record text, salt text, hash text, contents json, payments json)
    ), intents AS (
      INSERT INTO intent (${NAMES.intent}, recorded_at, record)
      SELECT ${NAMES.intent}, now, ${Prisma.raw(stampedSql('record', 'now'))}
      FROM calls, (SELECT clock_timestamp() AS now) AS clock
      WHERE NOT EXISTS (SELECT FROM intent i WHERE i.id = calls.id)
        AND NOT EXISTS (SELECT FROM refusal r WHERE r.id = calls.id)
      ON CONFLICT DO NOTHING
      RETURNING id, client_id, operation, person_id, ephemeral_key_id, reserved_on, total_usd,
        expected_fee_usd
    ), keys AS (
      INSERT INTO intent_body (intent_id, idempotency_key, idempotency_key_salt)
      SELECT id, idempotency_key, decode(salt, 'hex') FROM calls JOIN intents USING (id)
      WHERE salt IS NOT NULL
      ON CONFLICT DO NOTHING
    ), claims AS (
      INSERT INTO idempotency_claim (client_id, operation, key, intent_id, salt, content_hash)
      SELECT DISTINCT ON (client_id, operation, claim_key) client_id, operation, ${Prisma.raw(CLAIMED_KEY)},
        id, decode(salt, 'hex'), decode(hash, 'hex')
      FROM calls JOIN intents USING (id, client_id, operation) WHERE claim_key IS NOT NULL
      ORDER BY client_id, operation, claim_key, id DESC
      ON CONFLICT (client_id, operation, key) DO UPDATE
        SET intent_id = EXCLUDED.intent_id, salt = EXCLUDED.salt, content_hash = EXCLUDED.content_hash
        WHERE idempotency_claim.intent_id < EXCLUDED.intent_id
    ), remembered AS (
      INSERT INTO recent_content (content, intent_id, lasting)
      SELECT decode(value, 'hex'), id, item_count > 1 OR record::json ->> 'duplicate_of' IS NOT NULL
      FROM calls JOIN intents USING (id), json_array_elements_text(contents)
      ON CONFLICT DO NOTHING
    ), paid AS (
      INSERT INTO recipient_payment (recipient, intent_id, position, usd, kept_until)
      SELECT decode(recipient, 'hex'), calls.id, position, usd,
        greatest(calls.reserved_on, (expires_at AT TIME ZONE 'UTC')::date) + coalesce(hold_duplicates_days, 0)
      FROM calls JOIN intents USING (id) JOIN client ON client.id = calls.client_id,
        json_to_recordset(payments) AS payment(recipient text, position integer, usd numeric)
      ON CONFLICT DO NOTHING
    ), queued AS (
      INSERT INTO queued_call (account, client_id, intent_id, operation, ends_at)
      SELECT coalesce(calls.record::json ->> 'account', ${MAIN_ACCOUNT}), calls.client_id, id,
        calls.operation, calls.expires_at
      FROM calls JOIN intents USING (id) WHERE ${Prisma.raw(IS_QUEUED('calls'))}
      ON CONFLICT DO NOTHING
    ), ${SPENT}
    SELECT id::text AS id FROM intents`;
    await countOutcomes(tx, restored);
    return restored.length;
  });
}

/**
 * Orders the calls with one content by their IDs. Each folder has only calls of its own instance, so they
 * were restored in another order. A repetition names the newest call with its content.
 */
async function orderContents(prisma: PrismaService): Promise<void> {
  await prisma.$executeRaw`
    WITH mixed AS (
      SELECT DISTINCT r.content FROM recent_content r JOIN intent i ON i.id = r.intent_id
      WHERE i.process = ${NO_PROCESS}
        AND EXISTS (SELECT FROM recent_content o WHERE o.content = r.content AND o.intent_id <> r.intent_id)
    ), moved AS (
      DELETE FROM recent_content r USING mixed WHERE r.content = mixed.content
      RETURNING r.content, r.intent_id, r.lasting
    )
    INSERT INTO recent_content (content, intent_id, lasting)
    SELECT content, intent_id, lasting FROM moved ORDER BY intent_id`;
}

/**
 * Counts an approved call on the day of its approval. The copies lack the decider. A call that was rejected
 * since counts for good, because its decision has no day to give the reservation back on.
 */
async function restoreApprovals(prisma: PrismaService, lines: CopiedLine[]): Promise<number> {
  const rows = lines.flatMap((line) => (line.kind === 'approval' ? [line] : []));
  return prisma.$transaction(async (tx) => {
    const restored = await tx.$queryRaw<{ id: string }[]>`
    INSERT INTO decision (intent_id, kind, reason, reserved_on, process, client_id, key_id)
    SELECT a.intent_id, 'approved', 'Restored from a copy, which lacks the approver.', a.reserved_on,
      ${NO_PROCESS}::integer, i.client_id, (i.record::json ->> 'key_id')::uuid
    FROM json_to_recordset(${JSON.stringify(rows)}::json) AS a(intent_id uuid, reserved_on date)
    JOIN intent i ON i.id = a.intent_id
    WHERE NOT EXISTS (SELECT FROM decision d WHERE d.intent_id = a.intent_id)
    ON CONFLICT DO NOTHING RETURNING intent_id::text AS id`;
    const doubted = await doubtRejected(
      tx,
      rows.map(({ intent_id: id }) => id),
    );
    const counted = [...restored.map(({ id }) => id), ...doubted];
    await tx.$executeRaw`
    WITH intents AS (
      SELECT DISTINCT ON (i.id) i.client_id, i.person_id, i.ephemeral_key_id, a.reserved_on, i.total_usd,
        i.expected_fee_usd
      FROM json_to_recordset(${JSON.stringify(rows)}::json) AS a(intent_id uuid, reserved_on date)
      JOIN intent i ON i.id = a.intent_id WHERE i.id = ANY (${counted}::uuid[])
    ), ${SPENT}
    SELECT`;
    await countOutcomes(tx, restored);
    return restored.length;
  });
}

async function restoreOutcomes(prisma: PrismaService, lines: CopiedLine[]): Promise<number> {
  const rows = lines.flatMap((line) => (line.kind === 'outcome' ? [outcomeColumnsOf(line.record)] : []));
  return prisma.$transaction(async (tx) => {
    const restored = await tx.$queryRaw<{ id: string }[]>`
      INSERT INTO outcome (${NAMES.outcome}, recorded_at, record)
      SELECT ${NAMES.outcome}, now, ${Prisma.raw(stampedSql('record', 'now'))}
      FROM (SELECT clock_timestamp() AS now) AS clock,
        json_to_recordset(${JSON.stringify(rows)}::json) AS t(${DEFINITIONS.outcome}, record text)
      WHERE EXISTS (SELECT FROM intent i WHERE i.id = t.intent_id)
        AND NOT EXISTS (SELECT FROM outcome o WHERE o.intent_id = t.intent_id)
      ON CONFLICT DO NOTHING RETURNING intent_id::text AS id`;
    await countOutcomes(tx, restored);
    return restored.length;
  });
}

/**
 * Gives back unpaid amounts and adds extra costs by the outcomes of calls. A process that was sending a call
 * may have written its outcome before the call was restored.
 */
async function countOutcomes(tx: Prisma.TransactionClient, calls: { id: string }[]): Promise<void> {
  await tx.$queryRaw`
    SELECT adjust_spending(array_agg(intent_id), array_agg(NULL::numeric), array_agg(counted_usd))::text
    FROM outcome
    WHERE intent_id = ANY (${calls.map(({ id }) => id)}::uuid[]) AND counted_usd IS NOT NULL
    HAVING count(*) > 0`;
}
