import { Owner } from '../access/auth/owner';
import { OperationName } from '../operations/catalogue';
import { Prisma } from '../platform/database/generated/client';
import { catchUpIndex } from './search-index';

const CREATION: OperationName = 'POST /sub-account/create';

/**
 * Reads the answers to an owner's requests for sub-accounts. Those of erased people are missing.
 * @throws DatabaseTooSlow if the search index lacks records, because it is being rebuilt.
 */
export async function readSubAccountCreations(
  prisma: Prisma.TransactionClient,
  { clientId, person }: Owner,
): Promise<Buffer[]> {
  await catchUpIndex(prisma);
  const terms = [`client:${clientId}`, `operation:${CREATION}`, 'state:succeeded'];
  if (person !== null) terms.push(`person:${person.id}`);
  const calls = await prisma.$queryRaw<{ id: string }[]>`
    SELECT call_id::text AS id FROM indexed_call WHERE terms @> ${terms}::text[]`;
  const bodies = await prisma.outcomeBody.findMany({ where: { intentId: { in: calls.map(({ id }) => id) } } });
  return bodies.map(({ body }) => Buffer.from(body));
}
