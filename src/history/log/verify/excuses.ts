import { KindName, leafSql } from '../kinds';
import { isSignedLeaf, REMEMBERED_AFTER_ERASURE_MS, SignedRecords } from '../signed-records';
import { QueryRunner } from '../tree-store';
import { LogFault, placeOf, timeOfId } from './fault';
import { KeyTrust } from './key-trust';
import { WitnessNote } from './tree-walk';

/** Kinds of records that `audit prune` removes with their month (src/history/retention/months.ts). */
const PRUNABLE_KINDS: ReadonlySet<KindName> = new Set(['intent', 'outcome', 'refusal']);

interface PrunedMonth {
  kept: ReadonlySet<string>;
  /** Number of records that may still be missing. A leaf without a record could have any ID. */
  left: number;
}

/** Data that may be missing according to signed erasures and prunings. */
export class Excuses {
  private constructor(
    private readonly places: ReadonlySet<string>,
    /** Time of each person's last erasure, in seconds, by `person/<id>`. */
    private readonly persons: ReadonlyMap<string, number>,
    /** Prunings by `what month`. */
    private readonly months: ReadonlyMap<string, PrunedMonth>,
    /** Signed notes that prunings kept as evidence of removed records. */
    readonly notes: WitnessNote[],
    readonly count: { erasures: number; prunings: number },
    private readonly leaves: SignedLeaf[],
  ) {}

  static async read(query: QueryRunner): Promise<Excuses> {
    const leaves = [...(await leavesOf(query, 'erasure')), ...(await leavesOf(query, 'pruning'))];
    const erasures = recordsIn(leaves, 'erasure');
    const prunings = recordsIn(leaves, 'pruning');
    const months = new Map<string, PrunedMonth>();
    for (const { what, month, kept, leaves } of prunings) {
      const before = months.get(`${what} ${month}`);
      // The second pruning of a month may have removed calls that the first kept.
      const both = before ? kept.filter((id) => before.kept.has(id)) : kept;
      months.set(`${what} ${month}`, { kept: new Set(both), left: Number(leaves) + (before?.left ?? 0) });
    }
    return new Excuses(
      new Set(erasures.flatMap(({ places }) => places).filter((place) => !isPerson(place))),
      new Map(
        erasures.flatMap(({ places, erased_at: at }) =>
          places.filter(isPerson).map((place) => [place, new Date(at).getTime() / 1_000] as const),
        ),
      ),
      months,
      prunings.map(({ id, checkpoint }) => {
        return { note: checkpoint, source: 'the checkpoint of the pruning', place: placeOf('pruning', id) };
      }),
      { erasures: erasures.length, prunings: prunings.length },
      leaves,
    );
  }

  /** @throws LogFault if a record is not signed by a key that signed the log when the record was sealed. */
  async requireSigned(query: QueryRunner, trust: KeyTrust): Promise<void> {
    for (const { kind, id, leaf } of this.leaves) {
      const signer = trust.keys.find((key) => isSignedLeaf(key, kind, leaf));
      if (
        signer &&
        (trust.hasSigned(signer, undefined) || trust.hasSigned(signer, await indexOf(query, kind, id)))
      )
        continue;
      const meaning = `The ${kind} is not signed by the log's key. It was changed, or hides a deletion.`;
      throw new LogFault('not_signed', meaning, placeOf(kind, id));
    }
  }

  /** Returns whether data of a people's table may be missing: `intent_body/<call id>`, … */
  excusesPeople(place: string, id: string): boolean {
    if (this.places.has(place)) return true;
    // Filters of a search belong to no call, and stay when the month is pruned.
    return (
      !place.startsWith('access_filters/') &&
      !isPerson(place) &&
      (this.pruned('people', id) ?? this.pruned('calls', id)) !== undefined
    );
  }

  /**
   * Returns whether the name of a person may be missing from a record, or differ. After an erasure, a
   * returning person gets a new name, which does not belong to earlier records.
   * @param at time of the record, in seconds.
   */
  excusesPerson(place: string, at: number): boolean {
    return at <= (this.persons.get(place) ?? -Infinity) + REMEMBERED_AFTER_ERASURE_MS / 1_000;
  }

  /** Returns whether a record may be missing. Call it once for each leaf without a record. */
  excusesRecord(kind: KindName, id: string): boolean {
    const month = PRUNABLE_KINDS.has(kind) ? this.pruned('calls', id) : undefined;
    if (!month || month.left <= 0) return false;
    month.left -= 1;
    return true;
  }

  /** Returns whether all evidence of a read or a run may be missing. */
  excusesEvidence(id: string): boolean {
    return this.pruned('calls', id) !== undefined;
  }

  private pruned(what: 'people' | 'calls', id: string): PrunedMonth | undefined {
    const made = timeOfId(id);
    if (this.months.size === 0 || Number.isNaN(made)) return undefined;
    const month = this.months.get(`${what} ${new Date(made).toISOString().slice(0, 7)}`);
    return month?.kept.has(id) ? undefined : month;
  }
}

function isPerson(place: string): boolean {
  return place.startsWith('person/');
}

interface SignedLeaf {
  kind: keyof SignedRecords;
  id: string;
  leaf: string;
}

async function leavesOf(query: QueryRunner, kind: keyof SignedRecords): Promise<SignedLeaf[]> {
  const rows = await query<{ id: string; leaf: string }>(
    `SELECT t.id::text AS id, ${leafSql(kind, 't')} AS leaf FROM public.${kind} t ORDER BY t.id`,
    [],
  );
  return rows.map((row) => ({ kind, ...row }));
}

function recordsIn<Kind extends keyof SignedRecords>(
  leaves: SignedLeaf[],
  kind: Kind,
): SignedRecords[Kind][] {
  return leaves.filter((one) => one.kind === kind).map(({ leaf }) => JSON.parse(leaf) as SignedRecords[Kind]);
}

/** Returns the index of a record's leaf. Undefined if it is not sealed yet. */
async function indexOf(query: QueryRunner, kind: KindName, id: string): Promise<number | undefined> {
  const sql = 'SELECT index::float8 AS index FROM public.leaves_of($2::uuid) WHERE kind = $1';
  const [row] = await query<{ index: number }>(sql, [kind, id]);
  return row?.index;
}
