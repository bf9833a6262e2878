import { Leaves, MadeKind, OperationRow, OPERATIONS } from '../../operations/operations';

/** What an operation makes at the upstream, as the listing of its transactions shows it. */
export interface Made {
  kind: MadeKind;
  /** The upstream's word (upstream-observed.md, "Transaction record"). */
  type: string;
  /** A payout is never unpaid. */
  pays: boolean;
  /** A collection names its amount in the currency of the payer: there, the reference must be the same instead. */
  byReference?: true;
  /** It is not documented that the listing has them: one that is missing does not show that the listing is incomplete. */
  maybeListed?: true;
}

const KINDS: Record<MadeKind, Omit<Made, 'kind'>> = {
  airtime: { type: 'airtime', pays: true },
  'mobile money': { type: 'momo', pays: true },
  credit: { type: 'credit', pays: true },
  link: { type: 'credit', pays: false, maybeListed: true },
  transfer: { type: 'transfer', pays: true, maybeListed: true },
  collection: { type: 'payment', pays: false, byReference: true, maybeListed: true },
};

/** An operation on one transaction that is there already, by what it leaves it as. */
export type Change = 'deleted' | 'redeemed';

const CHANGES: Partial<Record<Leaves, Change>> = { deletion: 'deleted', redemption: 'redeemed' };

const ROWS = Object.entries<OperationRow>(OPERATIONS);

/** The operations that make transactions. */
export const MADE: ReadonlyMap<string, Made> = new Map(
  ROWS.flatMap(([operation, { leaves }]): [string, Made][] =>
    leaves !== undefined && isMade(leaves) ? [[operation, { kind: leaves, ...KINDS[leaves] }]] : [],
  ),
);

/** The operations that change a transaction. */
export const CHANGED: ReadonlyMap<string, Change> = new Map(
  ROWS.flatMap(([operation, { leaves }]): [string, Change][] => {
    const change = leaves && CHANGES[leaves];
    return change ? [[operation, change]] : [];
  }),
);

/** What may be in doubt and is of interest: what reads changes nothing. */
export const SETTLED_OPERATIONS: readonly string[] = ROWS.filter(([, { effect }]) => effect !== 'read').map(
  ([operation]) => operation,
);

/** The known words for types: a transaction of another one is none of ours. */
const TYPES: ReadonlySet<string> = new Set(Object.values(KINDS).map(({ type }) => type));

export function isOtherType(type: string | null, { type: own }: Pick<Made, 'type'>): boolean {
  const word = type?.toLowerCase();
  return word !== undefined && word !== own && TYPES.has(word);
}

function isMade(leaves: Leaves): leaves is MadeKind {
  return Object.hasOwn(KINDS, leaves);
}
