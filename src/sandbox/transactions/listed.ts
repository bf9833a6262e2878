import { Behaviour, LISTED_TYPES } from '../behaviour';
import { Prisma } from '../generated/client';

/** Selects the transactions that lists show now. A type that is listed late is left out until it is old enough. */
export function listedNow({ listedAfterMs }: Behaviour): Prisma.TransactionWhereInput {
  const late = LISTED_TYPES.filter((type) => listedAfterMs[type] > 0);
  if (late.length === 0) return {};
  const now = Date.now();
  return { NOT: late.map((type) => ({ type, issueDate: { gt: new Date(now - listedAfterMs[type]) } })) };
}
