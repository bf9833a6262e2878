import { Prisma } from '../platform/database/generated/client';
import { PrismaService } from '../platform/database/prisma.service';
import { proseAsRecorded } from '../platform/privacy/recorded';
import { FINDING_STEP_LOCK } from './finding-step-lock';
import { UUID_V7 } from './findings';

/** A finding without steps is open. */
export type FindingState = 'open' | StepState;
export type StepState = 'explained' | 'resolved' | 'accepted' | 'reopened';

/** What somebody decides about a finding. */
export interface NewStep {
  findingId: string;
  state: StepState;
  reason: string;
}

/** A finding at the moment it is decided about. */
export interface FindingNow {
  id: string;
  state: FindingState;
  /** Its newest step; null: none. */
  stepId: string | null;
  /** As it was seen last; decimal text, US dollars. */
  impactUsd: string;
  /** Of the call that it is about: who asked for it; null: it is about none. */
  clientId: string | null;
  keyId: string | null;
  actor: string | null;
}

/** Who decides. */
export interface StepAuthor {
  clientId: string;
  keyId: string;
  /** The person. */
  actor: string | null;
}

/**
 * How a finding `f` stands now: its newest step, and as it was seen last. What a run saw that looked back ("as of then")
 * counts only where no other has seen it.
 */
export const FINDING_NOW = Prisma.sql`
  LEFT JOIN LATERAL (
    SELECT * FROM finding_step WHERE finding_id = f.id ORDER BY decided_at DESC, id DESC LIMIT 1
  ) AS step ON TRUE
  JOIN LATERAL (
    SELECT s.* FROM finding_sight s JOIN reconciliation_run r ON r.id = s.run_id
    WHERE s.finding_id = f.id ORDER BY r.historical, s.seen_at DESC, s.id DESC LIMIT 1
  ) AS sight ON TRUE`;

/** By the database's clock, as those of a run: newer steps have greater ids. */
const NEW_ID = Prisma.raw(UUID_V7);

/** Ten thousand steps take about a second; a run that ends adds its own at the same time. */
const TIMEOUT = { maxWait: 5_000, timeout: 20_000 };

/**
 * Adds steps, all or none.
 * @param judge throws, if they may not be added as the findings stand; nothing is written then.
 */
export async function insertFindingSteps(
  prisma: PrismaService,
  steps: NewStep[],
  by: StepAuthor,
  judge: (findings: Map<string, FindingNow>) => void,
): Promise<void> {
  await prisma.$transaction(async (tx) => {
    await tx.$queryRaw`SELECT pg_advisory_xact_lock(${FINDING_STEP_LOCK})::text`;
    const ids = steps.map(({ findingId }) => findingId);
    const found = await tx.$queryRaw<FindingNow[]>`
      SELECT f.id::text, coalesce(step.state, 'open') AS state, step.id::text AS "stepId",
        trim_scale(sight.impact_usd)::text AS "impactUsd",
        i.client_id::text AS "clientId", i.key_id::text AS "keyId", i.actor
      FROM finding f ${FINDING_NOW} LEFT JOIN intent i ON i.id = f.call_id
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
    await tx.$executeRaw`
      INSERT INTO finding_step (id, finding_id, state, reason, impact_usd, client_id, key_id, actor)
      SELECT ${NEW_ID}, finding_id, state, reason, impact_usd, client_id, key_id, actor
      FROM json_populate_recordset(NULL::finding_step, ${JSON.stringify(rows)}::json)`;
  }, TIMEOUT);
}
