import { Scope } from '../../operations/catalogue/scopes';
import { Prisma } from '../../platform/database/generated/client';
import { Problem } from '../../platform/errors/problem';
import { OPENS } from '../clients/key';
import { HUMAN, KeyOwner, readOwners } from '../people/same-person';

/** Scopes that one person must not hold together: payers and administrators must not approve. */
const INCOMPATIBLE: readonly (readonly [Scope, Scope])[] = [
  ['pay', 'approve'],
  ['admin', 'approve'],
];

/** @throws Problem `incompatible_scopes` if the scopes are incompatible. */
function requireCompatible(scopes: readonly string[], holder = 'One client'): void {
  const pair = INCOMPATIBLE.find((both) => both.every((scope) => scopes.includes(scope)));
  if (!pair) return;
  throw new Problem('incompatible_scopes', {
    text:
      `${holder} must not have the scopes ${pair[0]} and ${pair[1]} together. ` +
      'Give them to clients of different persons.',
  });
}

/**
 * Requires that no person holds incompatible scopes, across the keys of all clients.
 * @param scopes the new scopes of their keys of the client.
 * @param owners the owners of these keys, with their sign-ins.
 * @throws Problem `incompatible_scopes`.
 */
export async function requireSeparationOfDuties(
  tx: Prisma.TransactionClient,
  client: string,
  { scopes, owners }: { scopes: readonly string[]; owners: KeyOwner[] },
): Promise<void> {
  requireCompatible(scopes);
  const humans = await readOwners(tx, owners);
  if (humans.length === 0) return;
  const elsewhere = await tx.$queryRaw<{ person: string; scopes: string[] }[]>`
    SELECT min(k.person) AS person, array_agg(DISTINCT scope) AS scopes
    FROM api_key k JOIN person p ON p.id = k.person_id JOIN client c ON c.id = k.client_id
      CROSS JOIN LATERAL unnest(c.scopes) AS scope
    WHERE ${HUMAN} = ANY (${humans}::uuid[]) AND c.name <> ${client} AND ${Prisma.raw(OPENS)}
    GROUP BY ${HUMAN}`;
  for (const { person, scopes: others } of elsewhere)
    requireCompatible([...scopes, ...others], `The person ${person}`);
}
