import { Logger } from '@nestjs/common';
import { FORGOTTEN_AFTER } from '../../access/people/person';
import { Entry } from '../../operations/lifecycle/settlement';
import { Timeouts } from '../../platform/config/upstream/upstream-timeouts';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { isUnavailable } from '../../platform/database/pools/unavailable';
import { canonical } from '../../policy/content';
import { CopiedLine, claimedKeyOf, IntentLine } from '../copies/local-copies';
import { insertKeptOutcome } from '../outcomes/outcomes';
import { membersIn, UNSTAMPED } from '../records/document-sql';
import { OutcomeDocument, IntentDocument } from '../records/documents';
import { OUTCOME_COLUMNS } from '../records/outcome-rows';
import { INTENT_COLUMNS } from '../records/request-members';
import { abandonedAmong, LateAnswer, settleByAnswer } from '../settlement/settled-by-upstream';
import { abandon } from '../settlement/settlements';
import { NO_PROCESS } from '../stops/recovery-gap';
import { OutcomeSpool, spoolFolder } from './spooled-outcomes';

/**
 * Adds missing persons of copied calls by their hashes, because copies lack the names. A person who called
 * again before the recovery has another ID in the database. Otherwise the hash is stored as that of an erased
 * person: the person may have been erased since, and an erasure needs a name.
 * @returns the lines, with the persons' IDs in the database.
 */
export async function restorePersons(prisma: PrismaService, lines: CopiedLine[]): Promise<CopiedLine[]> {
  const copied = lines.flatMap((line) =>
    line.kind === 'intent' && line.person !== undefined
      ? [{ id: line.record.person_id, client_id: line.record.client_id, sha256: line.person }]
      : [],
  );
  if (copied.length === 0) return lines;
  await prisma.$executeRaw`
    INSERT INTO person (id, client_id, sha256, forget_after)
    SELECT DISTINCT ON (p.id) p.id, p.client_id, decode(p.sha256, 'hex'),
      clock_timestamp() + ${FORGOTTEN_AFTER}::interval
    FROM json_to_recordset(${JSON.stringify(copied)}::json) AS p(id uuid, client_id uuid, sha256 text)
    JOIN client ON client.id = p.client_id ORDER BY p.id
    ON CONFLICT DO NOTHING`;
  const known = await prisma.$queryRaw<{ id: string; sha256: string }[]>`
    SELECT id::text AS id, encode(sha256, 'hex') AS sha256 FROM person
    WHERE sha256 IN (
      SELECT decode(hash, 'hex') FROM unnest(${copied.map(({ sha256 }) => sha256)}::text[]) AS hash)`;
  const ids = new Map(known.map(({ id, sha256 }) => [sha256, id]));
  return lines.map((line) => {
    const id = line.kind === 'intent' && line.person !== undefined ? ids.get(line.person) : undefined;
    return line.kind === 'intent' && id !== undefined
      ? { ...line, record: { ...line.record, person_id: id } }
      : line;
  });
}

/** Returns the columns and the record of a copied intent, without commitments to data that the copy lacks. */
export function columnsOf(line: IntentLine) {
  const { record, claim } = line;
  const document = { ...withoutCommitments(record), process: NO_PROCESS };
  const { items } = document;
  return {
    ...membersIn(document, INTENT_COLUMNS),
    idempotency_key: claim?.key ?? null,
    claim_key: claimedKeyOf(line),
    salt: claim?.salt ?? null,
    hash: claim?.hash ?? null,
    contents: line.contents,
    payments: line.payments ?? null,
    record: canonical({
      ...document,
      ...(claim && { idempotency_key_commitment: record.idempotency_key_commitment }),
      ...(items && { items: items.map(withoutCommitments) }),
      recorded_at: UNSTAMPED,
      recovered: true,
    }),
  };
}

/** Returns the columns and the record of a copied outcome, without the commitment to its answer. */
export function outcomeColumnsOf(record: OutcomeDocument) {
  const document = withoutCommitments(record);
  return {
    ...membersIn(document, OUTCOME_COLUMNS),
    record: canonical({ ...document, recorded_at: UNSTAMPED, recovered: true }),
  };
}

function withoutCommitments<Document extends object>(document: Document): Document {
  return Object.fromEntries(
    Object.entries(document).filter(([name]) => !name.endsWith('_commitment')),
  ) as Document;
}

const logger = new Logger('Journal');

/** Result of restoring the files in DATA_DIR/outcomes. */
interface RestoredOutcomes {
  /** Calls that had no outcome before. */
  outcomes: number;
  /** Unreadable files, and files whose outcome the database rejects. */
  unreadable: number;
}

/**
 * Writes spooled outcomes from the given DATA_DIRs, because nothing else reads the files of an instance that
 * is gone. Keeps the files, so it can be repeated. Call it after restoring the calls: an outcome without its
 * call is skipped.
 */
export async function restoreSpooledOutcomes(
  prisma: PrismaService,
  dataDirs: string[],
  timeouts: Timeouts,
): Promise<RestoredOutcomes> {
  const restored: RestoredOutcomes = { outcomes: 0, unreadable: 0 };
  for (const dataDir of dataDirs) {
    const spool = new OutcomeSpool(spoolFolder(dataDir));
    for (const id of await spool.ids()) {
      try {
        const outcome = await spool.read(id);
        const written = outcome && (await insertKeptOutcome(prisma, outcome, timeouts));
        if (written?.isNew) restored.outcomes += 1;
      } catch (error) {
        if (isUnavailable(error)) throw error;
        logger.error({ call_id: id }, 'spooled outcome not restored');
        restored.unreadable += 1;
      }
    }
  }
  return restored;
}

/**
 * Settles calls by their copied outcomes. An older database may have had a call without its outcome, and the
 * call may have been abandoned and settled since. A later confirmation outweighs the answer.
 */
export async function settleByCopies(
  prisma: PrismaService,
  lines: CopiedLine[],
  timeouts: Timeouts,
): Promise<void> {
  const records = lines.flatMap((line) => (line.kind === 'outcome' ? [line.record] : []));
  const ids = records.map(({ intent_id: id }) => id);
  const abandoned = await abandonedAmong(prisma, ids);
  if (abandoned.size === 0) return;
  const confirmed = await prisma.settlement.findMany({
    where: { intentId: { in: [...abandoned] }, resolution: 'confirmed' },
    select: { intentId: true },
  });
  const known = new Set(confirmed.map(({ intentId }) => intentId));
  for (const record of records) {
    if (!abandoned.has(record.intent_id) || known.has(record.intent_id)) continue;
    await settleByAnswer(prisma, toAnswer(record), timeouts);
  }
}

function toAnswer({ intent_id: intentId, kind, entries, items = [] }: OutcomeDocument): LateAnswer {
  return {
    intentId,
    kind: kind as LateAnswer['kind'],
    entries: entries as Entry | Entry[] | undefined,
    items: items.map(({ position = null, upstream_ref, upstream_id, batch_ref, status }) => ({
      position,
      upstreamRef: upstream_ref ?? null,
      upstreamId: upstream_id ?? null,
      batchRef: batch_ref ?? null,
      status: status ?? null,
    })),
  };
}

/**
 * Marks as in doubt the calls that were rejected although a lost approval had already sent them. The copies
 * of their outcomes, or the upstream's list, settle them.
 * @param callIds IDs of calls with a copied approval.
 * @returns the IDs of these calls.
 */
export async function doubtRejected(
  tx: Prisma.TransactionClient,
  callIds: string[],
): Promise<ReadonlySet<string>> {
  const rejected = await tx.$queryRaw<{ record: string }[]>`
    SELECT i.record FROM intent i JOIN decision d ON d.intent_id = i.id AND d.kind = 'rejected'
    WHERE i.id = ANY (${callIds}::uuid[]) AND NOT EXISTS (SELECT FROM outcome o WHERE o.intent_id = i.id)`;
  const doubted = await abandon(
    tx,
    rejected.map(({ record }) => JSON.parse(record) as IntentDocument),
  );
  for (const id of doubted)
    logger.warn({ call_id: id }, 'a rejected call had been approved before, and is in doubt');
  return doubted;
}
