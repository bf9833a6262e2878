import { AuditCounts } from './audit';
import { Order } from './orders';

/** The arguments of a scenario. */
export interface Run {
  /** 1 for a full run. Scales counts and durations. */
  factor: number;
  /** Reports the current step to people. */
  say: (text: string) => void;
  /** Registers cleanup for the end of the scenario, in reverse order, also after a failure. */
  onEnd: (end: () => Promise<void>) => void;
}

/** Actions and observations of a scenario. */
interface Result {
  did: string;
  seen: string[];
  /** Broken promises, with an example of each. Empty if all were kept. */
  broken: string[];
}

/** One kind of failure under load. */
export interface Scenario {
  name: string;
  title: string;
  /** Promise beyond the checks of the common audit. */
  promised: string;
  /** Duration of a full run, for the progress bar. */
  seconds: number;
  run(run: Run): Promise<Result>;
  /** Reason why it cannot run here. Undefined if it can. */
  missing?(): string | undefined;
}

/** Scales a count. Minimum 1. */
export const scaled = (count: number, { factor }: Run): number => Math.max(1, Math.round(count * factor));

/** Scales a duration to milliseconds. Minimum three seconds. */
export const scaledMs = (seconds: number, { factor }: Run): number =>
  Math.max(3_000, seconds * 1_000 * factor);

/** Summarizes the audit. */
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
}: AuditCounts): string[] {
  return [
    `of ${whole(orders)} requests, ${whole(acknowledged)} were carried out, ${whole(refused)} refused ` +
      'for good',
    `${lost} lost, ${twice} twice, ${unrecorded} unrecorded, ${phantom} phantom, ${overspent} over a ` +
      `cap, ${inDoubt} in doubt`,
  ];
}

/** Returns the promises that the audit found broken. */
export function brokenIn({ unanswered }: AuditCounts, complaints: string[]): string[] {
  return [
    ...complaints.slice(0, 5),
    ...(complaints.length > 5 ? [`${complaints.length - 5} more like these`] : []),
    ...(unanswered > 0 ? [`${unanswered} orders never got a final answer`] : []),
  ];
}

export const whole = (number: number): string => Math.round(number).toLocaleString('en');

export const inSeconds = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;

/** Returns a quantile of the values. NaN without values. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
}

/** Counts the first answers by status and code. */
export function countAnswers(orders: Order[]): string {
  const counts = new Map<string, number>();
  for (const { attempts } of orders) {
    const [first] = attempts;
    const answer = first?.status === 200 ? '200' : `${first?.status ?? 'no answer'} ${first?.code}`;
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  return [...counts].map(([answer, times]) => `${whole(times)} × ${answer}`).join(', ');
}
