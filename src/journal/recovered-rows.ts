import { FORGOTTEN_AFTER } from '../access/people/person';
import { PrismaService } from '../platform/database/prisma.service';
import { CopiedLine, claimedKeyOf, IntentLine, keyOf } from './local-copies';
import { canonical } from '../policy/content';
import { membersIn, UNSTAMPED } from './document-sql';
import { OutcomeDocument } from './documents';
import { NO_PROCESS } from './lost-time';
import { OUTCOME_COLUMNS } from './outcomes';
import { INTENT_COLUMNS } from './request-members';

/**
 * Adds the persons of copied calls that the database lacks, by their hashes: copies do not have their names. A person who called
 * again before the copies were restored has another ID in the database. Without another call, the hash goes as that of an erased
 * person: perhaps the person was erased since, and nobody can erase a person without a name.
 * @returns the lines, with the IDs that the persons have in the database.
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
    SELECT DISTINCT ON (p.id) p.id, p.client_id, decode(p.sha256, 'hex'), clock_timestamp() + ${FORGOTTEN_AFTER}::interval
    FROM json_to_recordset(${JSON.stringify(copied)}::json) AS p(id uuid, client_id uuid, sha256 text)
    JOIN client ON client.id = p.client_id ORDER BY p.id
    ON CONFLICT DO NOTHING`;
  const known = await prisma.$queryRaw<{ id: string; sha256: string }[]>`
    SELECT id::text AS id, encode(sha256, 'hex') AS sha256 FROM person
    WHERE sha256 IN (SELECT decode(one, 'hex') FROM unnest(${copied.map(({ sha256 }) => sha256)}::text[]) AS one)`;
  const ids = new Map(known.map(({ id, sha256 }) => [sha256, id]));
  return lines.map((line) => {
    const id = line.kind === 'intent' && line.person !== undefined ? ids.get(line.person) : undefined;
    return line.kind === 'intent' && id !== undefined ? { ...line, record: { ...line.record, person_id: id } } : line;
  });
}

/** Returns the columns of a copied intent, and its record without commitments to what is not in the copy. */
export function columnsOf(line: IntentLine) {
  const { record, claim } = line;
  const document = { ...withoutCommitments(record), process: NO_PROCESS };
  const { items } = document;
  const isBeside = claim?.key !== undefined;
  return {
    ...membersIn(document, INTENT_COLUMNS),
    idempotency_key: keyOf(line) ?? null,
    claim_key: claimedKeyOf(line) ?? null,
    salt: claim?.salt ?? null,
    hash: claim?.hash ?? null,
    contents: line.contents,
    payments: line.payments ?? null,
    key_salt: isBeside ? claim.salt : null,
    record: canonical({
      ...document,
      ...(isBeside && { idempotency_key_commitment: record.idempotency_key_commitment }),
      ...(items && { items: items.map(withoutCommitments) }),
      recorded_at: UNSTAMPED,
      recovered: true,
    }),
  };
}

/** Returns the columns of a copied outcome, and its record without the commitment to its answer. */
export function outcomeColumnsOf(record: OutcomeDocument) {
  const document = withoutCommitments(record);
  return {
    ...membersIn(document, OUTCOME_COLUMNS),
    record: canonical({ ...document, recorded_at: UNSTAMPED, recovered: true }),
  };
}

function withoutCommitments<Document extends object>(document: Document): Document {
  return Object.fromEntries(Object.entries(document).filter(([name]) => !name.endsWith('_commitment'))) as Document;
}
