import { Audited } from './audit';
import { Order } from './orders';

/** What a scenario is given. */
export interface Run {
  /** 1 for a full run. Counts and times shrink with it. */
  factor: number;
  /** Tells people what is being done. */
  say: (text: string) => void;
  /** Registers what must end with the scenario, in reverse order, also when it fails. */
  onEnd: (end: () => Promise<void>) => void;
}

/** What a scenario has done and seen. */
interface Result {
  did: string;
  seen: string[];
  /** The promises that were broken, with an example of each. Empty if all were kept. */
  broken: string[];
}

/** One kind of trouble, under load. */
export interface Scenario {
  name: string;
  title: string;
  /** What is promised beyond what the audit of all scenarios checks. */
  promised: string;
  /** How long a full run takes, for the progress bar. */
  seconds: number;
  run(run: Run): Promise<Result>;
  /** Why it cannot run here. Undefined if it can. */
  missing?(): string | undefined;
}

/** Scales a count. At least one is left. */
export const scaled = (count: number, { factor }: Run): number => Math.max(1, Math.round(count * factor));

/** Scales a time, in milliseconds. Three seconds are left. */
export const scaledMs = (seconds: number, { factor }: Run): number => Math.max(3_000, seconds * 1_000 * factor);

/** What the audit says in a few words. */
export function inWords({
  orders,
  acknowledged,
  refused,
  lost,
  twice,
  unrecorded,
  phantom,
  overspent,
  inDoubt,
}: Audited): string[] {
  return [
    `of ${whole(orders)} requests, ${whole(acknowledged)} were carried out, ${whole(refused)} refused for good`,
    `${lost} lost, ${twice} twice, ${unrecorded} unrecorded, ${phantom} phantom, ${overspent} over a cap, ${inDoubt} in doubt`,
  ];
}

/** What the audit found broken. */
export function brokenIn({ unanswered }: Audited, complaints: string[]): string[] {
  return [
    ...complaints.slice(0, 5),
    ...(complaints.length > 5 ? [`${complaints.length - 5} more like these`] : []),
    ...(unanswered > 0 ? [`${unanswered} orders never got a final answer`] : []),
  ];
}

export const whole = (number: number): string => Math.round(number).toLocaleString('en');

export const inSeconds = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`);

/** Returns the value below which this share of the values lies. NaN of none. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Counts the first answers by their status and code. */
export function toldIn(orders: Order[]): string {
  const counts = new Map<string, number>();
  for (const { attempts } of orders) {
    const [first] = attempts;
    const told = first?.status === 200 ? '200' : `${first?.status ?? 'no answer'} ${first?.code}`;
    counts.set(told, (counts.get(told) ?? 0) + 1);
  }
  return [...counts].map(([told, times]) => `${whole(times)} × ${told}`).join(', ');
}
