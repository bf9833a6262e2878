import { Author } from '../../access/auth/call';
import { Requester, REQUESTER_OF_INTENT } from '../../access/people/same-person';
import { Prisma } from '../../platform/database/generated/client';
import { LOCKS } from '../../platform/database/locks';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { proseAsRecorded } from '../../platform/privacy/recorded';
import { UUID_V7 } from './findings';
import { FORGET_EXPLAINED } from './unexplained-payments';

/** A finding without steps is open. */
export type FindingState = 'open' | StepState;
export type StepState = 'explained' | 'resolved' | 'accepted' | 'reopened';

/** A decision about a finding. */
export interface NewStep {
  findingId: string;
  state: StepState;
  reason: string;
}

/** The state of a finding at a decision. */
export interface FindingNow {
  id: string;
  state: FindingState;
  /** ID of its newest step. Null without steps. */
  stepId: string | null;
  /** Impact at its last sighting, in US dollars as decimal text. */
  impactUsd: string;
  /** Requester of its call. Null without a call. */
  requester: Requester | null;
}

/**
 * The current state of a finding `f`: its newest step and its last sighting. A sighting by a historical run
 * counts only without any other sighting.
 * @param seesPeople whether runs that compare recipients count. Without them, a finding that only they have
 * seen is omitted.
 */
export const findingNow = (seesPeople: boolean) => Prisma.sql`
  LEFT JOIN LATERAL (
    SELECT * FROM finding_step WHERE finding_id = f.id ORDER BY decided_at DESC, id DESC LIMIT 1
  ) AS step ON TRUE
  JOIN LATERAL (
    SELECT s.* FROM finding_sight s JOIN reconciliation_run r ON r.id = s.run_id
    WHERE s.finding_id = f.id AND ${isVisible(seesPeople, 'r.id')}
    ORDER BY r.historical, s.seen_at DESC, s.id DESC LIMIT 1
  ) AS sight ON TRUE`;

/** Ten thousand steps take about a second. A run that ends may add its steps concurrently. */
const TIMEOUT = { maxWait: 5_000, timeout: 10_000 };

/**
 * Adds all steps or none.
 * @param judge throws if the current findings do not allow the steps. Nothing is written then.
 */
export async function insertFindingSteps(
  prisma: PrismaService,
  steps: NewStep[],
  by: Author,
  judge: (findings: Map<string, FindingNow>) => void,
): Promise<void> {
  await prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT pg_advisory_xact_lock(${LOCKS.findingStep})::text`;
    const ids = steps.map(({ findingId }) => findingId);
    const found = await tx.$queryRaw<FindingNow[]>`
      SELECT f.id::text, coalesce(step.state, 'open') AS state, step.id::text AS "stepId",
        trim_scale(sight.impact_usd)::text AS "impactUsd",
        CASE WHEN i.id IS NOT NULL THEN json_build_object(
          'clientId', i.client_id, 'keyId', i.record::json ->> 'key_id',
          'isPerson', i.person_id IS NOT NULL, 'humans', ${REQUESTER_OF_INTENT}) END AS requester
      FROM finding f ${findingNow(true)} LEFT JOIN intent i ON i.id = f.call_id
      WHERE f.id = ANY (${ids}::uuid[])`;
    const findings = new Map(found.map((one) => [one.id, one]));
    judge(findings);
    const rows = steps.map(({ findingId, state, reason }) => ({
      finding_id: findingId,
      state,
      reason: proseAsRecorded(reason),
      impact_usd: findings.get(findingId)?.impactUsd,
      client_id: by.clientId,
      key_id: by.keyId,
      actor: by.actor,
    }));
    // IDs by the database's clock, like those of a run's steps: newer steps have greater IDs.
    await tx.$executeRaw`
      INSERT INTO finding_step (id, finding_id, state, reason, impact_usd, client_id, key_id, actor)
      SELECT ${UUID_V7}, finding_id, state, reason, impact_usd, client_id, key_id, actor
      FROM json_populate_recordset(NULL::finding_step, ${JSON.stringify(rows)}::json)`;
    await tx.$executeRaw(FORGET_EXPLAINED);
  }, TIMEOUT);
}

/** The fields of a statement that identify recipients. */
export const RECIPIENT_FIELDS = ['recipient', 'email', 'phone', 'handle', 'receiver'] as const;

/**
 * Whether a reading is a statement that names recipients. Its runs and their findings then reveal who was
 * paid.
 * @param read an alias of `source_read`.
 */
export function namesRecipients(read: string): Prisma.Sql {
  const row = Prisma.raw(read);
  return Prisma.sql`coalesce(${row}.source = 'statement'
    AND jsonb_exists_any((${row}.mapping->'columns')::jsonb, ${[...RECIPIENT_FIELDS]}::text[]), false)`;
}

/**
 * Whether a run compares the recipients of a statement.
 * @param run an SQL expression of its ID.
 */
export function comparesRecipients(run: string): Prisma.Sql {
  return Prisma.sql`EXISTS (
    SELECT FROM reconciliation_run named JOIN source_read x ON x.id = named.read_id
    WHERE named.id = ${Prisma.raw(run)} AND ${namesRecipients('x')})`;
}

/**
 * Returns SQL for whether a reader sees what a run observed.
 * @param run an SQL expression of its ID.
 */
export function isVisible(seesPeople: boolean, run: string): Prisma.Sql {
  return seesPeople ? Prisma.sql`TRUE` : Prisma.sql`NOT ${comparesRecipients(run)}`;
}
