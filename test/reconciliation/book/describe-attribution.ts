import fc from 'fast-check';
import { Reading } from '../../../src/reconciliation/book/book.service';
import { faultsOf, isOrderFree, Owned } from '../../support/reconciliation/attribution/attribution-oracle';
import { BookScene } from '../../support/reconciliation/attribution/book-scene';
import { EXAMPLE_WORLDS, SHOWN } from '../../support/reconciliation/attribution/example-worlds';
import {
  payoutsOf,
  USUAL,
  World,
  world,
  WorldRow,
} from '../../support/reconciliation/attribution/small-world';
import { ListedRow, namesOf, PlacedWorld } from '../../support/reconciliation/attribution/world-records';

/** Some thirty times the normal duration. */
const MS_PER_RUN = 100_000;

/** Number of worlds in an account. Each account costs as much as fifty worlds. */
const WORLDS = 60;

/** The readings of an upstream that shows its transactions at once, some late, or the late ones first. */
const ORDERS = [
  [() => true],
  [({ isLate }: WorldRow) => !isLate, () => true],
  [({ isLate }: WorldRow) => isLate, () => true],
];

/** An entered account. */
interface Entered {
  placed: PlacedWorld[];
  owned: Owned[][];
  /** The same after the last reading was entered again. */
  again: Owned[][];
}

/**
 * Describes the attribution of small worlds, which an oracle judges. Each run enters some worlds in several
 * orders, each in an account of its own.
 */
export function describeAttribution({ runs, seed }: { runs: number; seed: number }): void {
  describe(`the book, in small worlds (ATTRIBUTION_SEED=${seed})`, () => {
    let scene: BookScene;

    beforeAll(async () => {
      const upstreamTimeoutMs = 10_000;
      const resolverQuietSeconds = USUAL.afterSeconds - upstreamTimeoutMs / 1_000;
      scene = await BookScene.begin({ upstreamTimeoutMs, resolverQuietSeconds });
    });
    afterAll(() => scene.close());

    const enter = async (
      worlds: World[],
      showsIds: boolean,
      order: (typeof ORDERS)[number],
    ): Promise<Entered> => {
      const { account, placed } = await scene.place(showsIds ? [...worlds, SHOWN] : worlds, showsIds);
      const rows = placed.flatMap((one) => one.world.rows.map((_, index) => ({ placed: one, index })));
      const readings = new Map<string, ListedRow[]>();
      let reading: Reading | undefined;
      for (const isListed of order) {
        const isShown = ({ placed: { world: own }, index }: ListedRow) =>
          own === SHOWN || isListed(own.rows[index] as WorldRow);
        const listed = rows.filter(isShown);
        reading = await scene.read(account, listed);
        readings.set(reading.readId, listed);
        await scene.enter(reading);
      }
      const owned = await ownedIn(account, placed, readings);
      if (reading) await scene.enter(reading);
      return { placed, owned, again: await ownedIn(account, placed, readings) };
    };

    /** Reads the payouts of each world that have a transaction. */
    const ownedIn = async (account: string, worlds: PlacedWorld[], readings: Map<string, ListedRow[]>) => {
      const found = await scene.proxy.database.query<OwnedRow>(
        `SELECT call_id, position, ground, upstream_ref, upstream_id, variant, read_id, ordinal::integer
         FROM book_transaction WHERE account = $1 ORDER BY call_id, position`,
        [account],
      );
      const shownAs = (each: OwnedRow) => readings.get(each.read_id ?? '')?.[each.ordinal ?? 0];
      const shown = found.flatMap((each) => shownAs(each) ?? []);
      const twice = shown.find((one, at) => shown.some((other, next) => next > at && isSameRow(one, other)));
      if (twice)
        throw new Error(`the book has ${twice.index} twice\nin ${JSON.stringify(twice.placed.world)}`);
      return worlds.map((one) =>
        found.flatMap((each): Owned[] => {
          const callIndex = one.ids.indexOf(each.call_id ?? '');
          if (callIndex < 0) return [];
          const row = shownAs(each)?.index ?? rowNamed(one, each, shown);
          return [{ callIndex, position: each.position ?? 0, row, ground: each.ground ?? '' }];
        }),
      );
    };

    it(
      'attributes as an oracle that compares all with all',
      async () => {
        const drawn = fc.array(world, { minLength: WORLDS, maxLength: WORLDS });
        await fc.assert(
          fc.asyncProperty(drawn, fc.boolean(), async (worlds, showsIds) => {
            const entered: Entered[] = [];
            for (const order of ORDERS) entered.push(await enter(worlds, showsIds, order));
            for (const [index, one] of worlds.entries()) {
              const faults = entered.flatMap(({ placed, owned }, at) =>
                faultsOf(placed[index] as PlacedWorld, owned[index] ?? [], at === 0),
              );
              for (const { owned, again } of entered) {
                const [before, after] = [JSON.stringify(owned[index]), JSON.stringify(again[index])];
                if (before !== after) faults.push(`the same reading changes ${before} to ${after}`);
              }
              const counts = entered.map(({ owned }) => countsIn(one, owned[index] ?? []));
              if (isOrderFree(entered[0]!.placed[index]!) && new Set(counts).size > 1)
                faults.push(`the order changes ${counts.join(' or ')}`);
              if (faults.length > 0) throw new Error(`${faults.join('\n')}\nin ${JSON.stringify(one)}`);
            }
          }),
          {
            numRuns: runs,
            seed,
            endOnFailure: true,
            examples: [
              [EXAMPLE_WORLDS, true],
              [EXAMPLE_WORLDS, false],
            ],
          },
        );
      },
      60_000 + runs * MS_PER_RUN,
    );
  });
}

interface OwnedRow {
  call_id: string | null;
  position: number | null;
  ground: string | null;
  upstream_ref: string | null;
  upstream_id: string | null;
  variant: number;
  read_id: string | null;
  ordinal: number | null;
}

const isSameRow = (one: ListedRow, other: ListedRow) =>
  one.placed === other.placed && one.index === other.index;

/**
 * Returns the transaction with these names, if no reading had news about it.
 * @param shown the listed transactions with news. One that contradicts its names is another transaction.
 */
function rowNamed(
  placed: PlacedWorld,
  { upstream_ref, upstream_id, variant }: OwnedRow,
  shown: ListedRow[],
): number | null {
  const index = placed.world.rows.findIndex((_, at) => {
    const names = namesOf(placed, at);
    const isSameId = !upstream_id || names.upstream_id === upstream_id;
    return isSameId && names.upstream_ref === upstream_ref;
  });
  const isOther = shown.some((one) => one.placed === placed && one.index === index);
  return variant > 0 || index < 0 || isOther ? null : index;
}

/** The number of payouts with a transaction, for each operation, recipient and amount. */
function countsIn(own: World, owned: Owned[]): string {
  const counts = new Map<string, number>();
  for (const { call, callIndex, position, to, usd } of payoutsOf(own)) {
    const isOwned = owned.some((one) => one.callIndex === callIndex && one.position === position);
    const key = [call.operation, to, usd].join(' ');
    counts.set(key, (counts.get(key) ?? 0) + Number(isOwned));
  }
  return JSON.stringify([...counts]);
}
