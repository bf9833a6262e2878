import { KindName } from '../kinds';
import { leafSql } from '../leaves';
import { Verifier } from '../note';
import { isSignedLeaf, SignedRecords } from '../signed-records';
import { Ask } from '../tree-store';
import { LogFault, placeOf, timeOfId } from './fault';
import { Witnessed } from './tree-walk';

/** Records that audit prune removes with their month (src/history/retention/months.ts). It keeps all others. */
const OF_CALLS: ReadonlySet<KindName> = new Set(['intent', 'outcome', 'refusal']);

interface Month {
  kept: ReadonlySet<string>;
  /** The number of records that may still be missing. A leaf without a record could have been given any ID. */
  left: number;
}

/** What may be missing, according to erasures and prunings that our key signed. */
export class Excuses {
  private constructor(
    private readonly places: ReadonlySet<string>,
    /** Prunings by `what month`. */
    private readonly months: ReadonlyMap<string, Month>,
    /** The signed notes that prunings kept as evidence of removed records. */
    readonly notes: Witnessed[],
    readonly count: { erasures: number; prunings: number },
  ) {}

  /** @throws LogFault if a record is not signed by the key. */
  static async read(ask: Ask, verifier: Verifier): Promise<Excuses> {
    const erasures = await signed(ask, verifier, 'erasure');
    const prunings = await signed(ask, verifier, 'pruning');
    const months = new Map<string, Month>();
    for (const { what, month, kept, leaves } of prunings) {
      const before = months.get(`${what} ${month}`);
      // After two prunings of one month, the second may have removed what the first kept.
      const both = before ? kept.filter((id) => before.kept.has(id)) : kept;
      months.set(`${what} ${month}`, { kept: new Set(both), left: Number(leaves) + (before?.left ?? 0) });
    }
    return new Excuses(
      new Set(erasures.flatMap(({ places }) => places)),
      months,
      prunings.map(({ id, checkpoint }) => {
        return { note: checkpoint, source: 'the checkpoint of the pruning', place: placeOf('pruning', id) };
      }),
      { erasures: erasures.length, prunings: prunings.length },
    );
  }

  /** Returns whether data of a people's table may be missing: `intent_body/<call id>`, … */
  excusesPeople(place: string, id: string): boolean {
    if (this.places.has(place)) return true;
    // Filters of a search belong to no call and stay when the month is pruned.
    return (
      !place.startsWith('access_filters/') && (this.pruned('people', id) ?? this.pruned('calls', id)) !== undefined
    );
  }

  /** Returns whether a record may be missing. Call it once for each leaf without a record. */
  excusesRecord(kind: KindName, id: string): boolean {
    const month = OF_CALLS.has(kind) ? this.pruned('calls', id) : undefined;
    if (!month || month.left <= 0) return false;
    month.left -= 1;
    return true;
  }

  private pruned(what: 'people' | 'calls', id: string): Month | undefined {
    const made = timeOfId(id);
    if (this.months.size === 0 || Number.isNaN(made)) return undefined;
    const month = this.months.get(`${what} ${new Date(made).toISOString().slice(0, 7)}`);
    return month?.kept.has(id) ? undefined : month;
  }
}

async function signed<Kind extends keyof SignedRecords>(ask: Ask, verifier: Verifier, kind: Kind) {
  const rows = await ask<{ id: string; leaf: string }>(
    `SELECT t.id::text AS id, ${leafSql(kind, 't')} AS leaf FROM public.${kind} t ORDER BY t.id`,
    [],
  );
  for (const { id, leaf } of rows) {
    if (!isSignedLeaf(verifier, kind, leaf)) {
      throw new LogFault(
        'not_signed',
        `The ${kind} is not signed by the log's key. It was changed, or somebody wrote it to hide a deletion.`,
        placeOf(kind, id),
      );
    }
  }
  return rows.map(({ leaf }) => JSON.parse(leaf) as SignedRecords[Kind]);
}
