import { Leaves, OperationRow, OPERATIONS } from '../../operations/operations';

/** The operations whose payments are compared, by their lines in the interface document. */

/** Value leaves a wallet, and the upstream may take a fee. */
export const PAYOUTS = leaving('airtime', 'mobile money', 'credit');

/** Value leaves a wallet for another one of the same owner. */
export const TRANSFERS = leaving('transfer');

/** Money moves when somebody pays the link: our records cannot say whether it did. */
export const LINKS = leaving('link');

/** Money comes in, in another currency: it is matched, and counts for nothing in the sums. */
export const COLLECTIONS = leaving('collection');

export const COMPARED = [...PAYOUTS, ...TRANSFERS, ...LINKS, ...COLLECTIONS];

/** Operations that change something and make no transaction that could be compared. One in doubt keeps a run from being clean. */
export const NOT_COMPARED = leaving('deletion', 'redemption', 'nothing');

/** What the upstream calls money that came in. */
export const INCOMING_TYPE = 'payment';

function leaving(...kinds: Leaves[]): string[] {
  return Object.entries<OperationRow>(OPERATIONS).flatMap(([name, { leaves }]) =>
    leaves !== undefined && kinds.includes(leaves) ? [name] : [],
  );
}
