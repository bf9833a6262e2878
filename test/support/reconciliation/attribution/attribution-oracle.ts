import { mostPairs } from '../../examples/most-pairs';
import { batchesOf, CALL_KINDS, PlacedPayout } from './small-world';
import { contradicts, isPayment, isSame, isUnplacedIn, isUsual, Row, WorldFacts } from './world-facts';
import { PlacedWorld } from './world-records';

/**
 * Judges the attributions of a small world, by comparing all payouts with all transactions. Written from
 * docs/internals/attribution.md alone.
 */

/** A payout and the transaction that the book gives it. */
export interface Owned {
  callIndex: number;
  position: number;
  /** Null for a transaction that only an answer has shown. */
  row: number | null;
  ground: string;
}

/** The rules in their order. */
const LEVELS = ['answer', 'name', 'own_id', 'batch_ref', 'fingerprint', 'none'] as const;
type Level = (typeof LEVELS)[number];
const LEVEL_OF: Record<string, Level> = { error: 'answer', upstream_ref: 'name', upstream_id: 'name' };
const isAfter = (one: Level, other: Level) => LEVELS.indexOf(one) > LEVELS.indexOf(other);

/** @param atOnce whether one reading showed all transactions. Otherwise, earlier ones were given away. */
export function faultsOf(placed: PlacedWorld, owned: Owned[], atOnce: boolean): string[] {
  return new Oracle(placed, owned, atOnce).faults();
}

/**
 * Whether the order of readings cannot matter: the payouts and transactions that are alike form classes whose
 * members are interchangeable, and no answer names a batch, a transaction without a payout, or one that
 * refutes it. Such an answer proves more or less, by what else of its call is listed.
 */
export function isOrderFree(placed: PlacedWorld): boolean {
  return new Oracle(placed, [], true).hasClasses();
}

class Oracle extends WorldFacts {
  constructor(
    placed: PlacedWorld,
    private readonly owned: Owned[],
    private readonly atOnce: boolean,
  ) {
    super(placed);
  }

  faults(): string[] {
    const faults = [
      ...this.wrongPairs(),
      ...this.unclaimedNames(),
      ...this.missed('own_id', (payout, row) => this.hasOwnId(payout, row)),
      ...this.missed('batch_ref', (payout, row) => this.isOfCall(payout, row) && isSame(payout, row)),
      ...this.missedLast('fingerprint'),
      ...this.missed('fingerprint', (payout, row) => this.isAlike(payout, row)),
    ];
    if (!this.atOnce) return faults;
    return [...faults, ...this.missedLast('own_id'), ...this.missedInClasses(), ...this.outOfOrder()];
  }

  hasClasses(): boolean {
    const { world } = this.placed;
    const isRefuted = this.payouts.some(
      (one) => one.names !== null && this.refutes(one, this.rows[one.names] as Row),
    );
    const isPlain =
      !isRefuted &&
      world.calls.every((call) => call.unplaced === null && batchesOf(world, call).length === 0);
    const fitting = this.rows.map((row) => this.payouts.filter((payout) => this.isAlike(payout, row)));
    const isClass = (one: PlacedPayout[], other: PlacedPayout[]) =>
      !one.some((payout) => other.includes(payout)) ||
      (one.length === other.length && one.every((payout) => other.includes(payout)));
    return isPlain && fitting.every((one) => fitting.every((other) => isClass(one, other)));
  }

  /** Pairs that their rule does not allow, or that contradict each other. */
  private wrongPairs(): string[] {
    return this.pairs().flatMap(([payout, row, ground]) => {
      const isNamed = () => payout.names === row.index;
      const later = {
        own_id: () => this.hasOwnId(payout, row),
        batch_ref: () =>
          this.callsOf(row).includes(payout.callIndex) &&
          (isSame(payout, row) || isUnplacedIn(payout.call, row) || this.isFreedIn(payout, row)),
        fingerprint: () => this.isAlike(payout, row),
      };
      // A later rule gave the payout this transaction, whose name is on record although it was lost since.
      const isRegained = () => Object.values(later).some((fits) => fits());
      const fits = {
        ...later,
        answer: isNamed,
        name: () => isNamed() || isRegained(),
        none: () => false,
      }[levelOf(ground)];
      return [
        ...(fits() ? [] : [`${label(payout)} has ${row.index} by ${ground}`]),
        ...(this.refutes(payout, row) ? [`${label(payout)} contradicts ${row.index}`] : []),
      ];
    });
  }

  /** Whether the answer to the call names the transaction for another payout, which it refutes. */
  private isFreedIn({ callIndex }: PlacedPayout, row: Row): boolean {
    return this.payouts.some(
      (one) => one.callIndex === callIndex && one.names === row.index && this.refutes(one, row),
    );
  }

  /**
   * A transaction that answers assign to payouts belongs to one of those, unless it refutes them, or another
   * row with its names does.
   */
  private unclaimedNames(): string[] {
    const names = new Set(this.payouts.flatMap((one) => (one.names === null ? [] : [one.names])));
    return [...names].flatMap((index) => {
      const shown = this.rows.filter((row) => row.index === index || row.repeats === index);
      const named = this.payouts.filter((one) => one.names === index);
      const claimants = named.filter((one) => !shown.some((row) => this.refutes(one, row)));
      // After a refuted payout, the rules compare the others: fees are no payouts, and a cent is no rounding.
      if (
        claimants.length < named.length &&
        shown.some((row) => !isPayment(row) || claimants.some((one) => isCentOff(one, row)))
      )
        return [];
      // What the rules gave a payout before the reading that refutes the other one stays.
      const last: Level = claimants.length < named.length && !this.atOnce ? 'fingerprint' : 'name';
      const isOwned = claimants.some((one) => !isAfter(this.levelOfPayout(one), last));
      return isOwned || claimants.length === 0 ? [] : [`no answer has ${index}`];
    });
  }

  /** Pairs that a rule proves, and that no rule up to it has used. */
  private missed(level: Level, proves: (payout: PlacedPayout, row: Row) => boolean): string[] {
    // An attribution of an earlier reading stays, whatever its rule.
    const isOpen = (one: Level) => (this.atOnce ? isAfter(one, level) : one === 'none');
    return this.payouts.flatMap((payout) =>
      this.rows
        .filter((row) => isOpen(this.levelOfPayout(payout)) && isOpen(this.levelOfRow(row)))
        .filter((row) => isPayment(row) && proves(payout, row) && !contradicts(payout, row))
        .map((row) => `${label(payout)} lacks ${row.index} by ${level}`),
    );
  }

  /** The payout and the named transaction that are left alone in a call, after a rule. */
  private missedLast(rule: Level): string[] {
    const isLeft = (payout: PlacedPayout | undefined, row: Row | undefined, level: Level) =>
      isAfter(level, rule) && !(level === 'batch_ref' && payout && row && isSame(payout, row));
    return this.placed.world.calls.flatMap((call, callIndex) => {
      const payouts = this.payouts.filter(
        (one) => one.callIndex === callIndex && isLeft(one, this.rowOf(one), this.levelOfPayout(one)),
      );
      const rows = this.rows.filter(
        (one) =>
          isPayment(one) &&
          this.callsOf(one).includes(callIndex) &&
          isLeft(this.payoutOf(one), one, this.levelOfRow(one)),
      );
      const [payout, row] = [payouts[0], rows[0]];
      if (!payout || !row || payouts.length > 1 || rows.length > 1 || !isUnplacedIn(call, row)) return [];
      if (!this.isOfCall(payout, row) || (rule === 'own_id' && isCentOff(payout, row))) return [];
      const isMissed = this.rowOf(payout) !== row && !contradicts(payout, row);
      return isMissed ? [`${label(payout)} lacks ${row.index}, the last of its call`] : [];
    });
  }

  /** Classes with fewer pairs than possible. */
  private missedInClasses(): string[] {
    const payouts = this.payouts.filter((one) => isAfter(this.levelOfPayout(one), 'batch_ref'));
    const rows = this.rows.filter((one) => isAfter(this.levelOfRow(one), 'batch_ref'));
    const most = mostPairs(payouts, rows, (payout, row) => this.isAlike(payout, row));
    const actual = payouts.filter((one) => this.levelOfPayout(one) === 'fingerprint').length;
    return actual === most ? [] : [`classes have ${actual} pairs instead of ${most}`];
  }

  /** Payouts without the transaction of a later payout that is like them. */
  private outOfOrder(): string[] {
    const waiting = this.payouts.filter((one) => this.levelOfPayout(one) === 'none');
    return this.pairs().flatMap(([payout, row, ground]) =>
      waiting
        .filter((one) => levelOf(ground) === 'fingerprint' && this.isAlike(one, row) && isBefore(one, payout))
        .filter((one) => one.call.operation === payout.call.operation)
        .filter((one) => !isUsual(payout, row) || isUsual(one, row))
        .filter((one) => !this.sharesReference(payout, row) || this.sharesReference(one, row))
        .map((one) => `${label(payout)} has ${row.index} before ${label(one)}`),
    );
  }

  private pairs(): [PlacedPayout, Row, string][] {
    return this.payouts.flatMap((payout): [PlacedPayout, Row, string][] => {
      const row = this.rowOf(payout);
      return row ? [[payout, row, this.ownedBy(payout)?.ground ?? '']] : [];
    });
  }

  private ownedBy({ callIndex, position }: PlacedPayout): Owned | undefined {
    return this.owned.find((one) => one.callIndex === callIndex && one.position === position);
  }

  private rowOf(payout: PlacedPayout): Row | undefined {
    return this.rows[this.ownedBy(payout)?.row ?? -1];
  }

  private payoutOf(row: Row): PlacedPayout | undefined {
    return this.payouts.find((one) => this.rowOf(one) === row);
  }

  private levelOfPayout(payout: PlacedPayout): Level {
    return levelOf(this.ownedBy(payout)?.ground);
  }

  private levelOfRow(row: Row): Level {
    return levelOf(this.owned.find((one) => one.row === row.index)?.ground);
  }
}

function levelOf(ground: string | undefined): Level {
  if (ground === undefined) return 'none';
  return LEVEL_OF[ground] ?? (ground as Level);
}

const isCentOff = (payout: PlacedPayout, row: Row) =>
  Math.abs(Number(row.usd) - Number(payout.usd)) > Number(row.fee) + 0.0099;

const label = ({ callIndex, position }: PlacedPayout) => `${callIndex}.${position}`;

/** The order of payouts in a class. Equal ones are interchangeable. */
function isBefore({ call: one }: PlacedPayout, { call: other }: PlacedPayout): boolean {
  const [first, second] = [tierOf(one), tierOf(other)];
  return first < second || (first === second && one.at < other.at);
}

/** A success that names nothing is in doubt. */
const tierOf = ({ kind }: PlacedPayout['call']) => CALL_KINDS.indexOf(kind === 'answered' ? 'lost' : kind);
