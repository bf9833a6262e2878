import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { isUuid } from '../../platform/database/uuid';
import { ChangeAuthor, ChangeRecords, recordChanges } from '../clients/changes';
import { ClientError } from '../clients/client-error';
import { TRANSACTION_LIMITS } from '../clients/clients.service';
import { HUMAN } from './same-person';

/** Two people to merge, as named by an administrator: a person of a client by ID, staff by name. */
export interface MergeRequest {
  /** The person whose ID the human keeps. */
  kept: string;
  merged: string;
}

/** The stored form of a pending merge. */
export type MergeDocument = Record<keyof MergeRequest, MergedPerson>;

interface MergedPerson {
  id: string;
  /** The name of a staff member. Null for a person of a client, whom records name by ID. */
  name: string | null;
}

/**
 * Reads the people of a merge.
 * @throws ClientError for an unknown person, or if both are one human already.
 */
export async function readMerge(
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
  { kept, merged }: MergeRequest,
): Promise<MergeDocument> {
  const [first, second] = [await find(tx, kept), await find(tx, merged)];
  if (first.human !== second.human) return { kept: shown(first), merged: shown(second) };
  const fault = { pointer: '/merged', detail: 'must be another person than kept' };
  throw new ClientError('both are one person already', undefined, [fault]);
}

/** Merges two people, and records it. @returns false if both are one human already. */
export async function writeMerge(
  tx: Prisma.TransactionClient,
  records: ChangeRecords,
  merge: MergeDocument,
  author: ChangeAuthor,
): Promise<boolean> {
  const [row] = await tx.$queryRaw<{ isNew: boolean }[]>`
    SELECT merge_people(${merge.kept.id}::uuid, ${merge.merged.id}::uuid) AS "isNew"`;
  if (row?.isNew !== true) return false;
  const act = {
    action: 'people_merged',
    client: null,
    keyId: null,
    before: null,
    after: recordedMerge(merge),
  } as const;
  await recordChanges(records, tx, [act], author);
  return true;
}

/** Merges two people without dual control. @throws ClientError */
export function mergePeople(
  prisma: PrismaService,
  records: ChangeRecords,
  named: MergeRequest,
  author: ChangeAuthor,
): Promise<MergeDocument> {
  return prisma.$transaction(async (tx) => {
    const merge = await readMerge(tx, named);
    await writeMerge(tx, records, merge, author);
    return merge;
  }, TRANSACTION_LIMITS);
}

/** Returns a merge for its record and for display. */
export function recordedMerge({ kept, merged }: MergeDocument): object {
  return {
    kept_person_id: kept.id,
    ...(kept.name !== null && { kept_person: kept.name }),
    merged_person_id: merged.id,
    ...(merged.name !== null && { merged_person: merged.name }),
  };
}

async function find(
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
  person: string,
): Promise<MergedPerson & { human: string }> {
  const id = isUuid(person) ? person : null;
  const [found] = await tx.$queryRaw<(MergedPerson & { human: string })[]>`
    SELECT p.id::text, (SELECT min(k.person) FROM api_key k WHERE k.person_id = p.id) AS name,
      ${HUMAN}::text AS human
    FROM person p WHERE p.id = coalesce(${id}::uuid,
      (SELECT person_id FROM person_identity WHERE is_staff AND sha256 = identity_sha256(NULL, ${person})))`;
  if (!found) throw new ClientError(`there is no person ${person}`, 'person_not_found');
  return found;
}

function shown({ id, name }: MergedPerson): MergedPerson {
  return { id, name };
}
