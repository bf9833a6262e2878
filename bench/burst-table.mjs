/** Formats the results of npm run bench:burst as Markdown. */
import { markdown, onWhat } from './tables.mjs';

export function burstTable({ machine, permits, rate, bursts }) {
  const whole = (value) => value.toLocaleString('en');
  const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;
  const line = (burst) => [
    `${burst.seconds} s`,
    `${whole(burst.number)}${burst.prefer ? `, \`Prefer: ${burst.prefer}\`` : ''}`,
    whole(burst.paidAtFirst),
    burst.refusedAtFirst === 0 ? '0' : `${whole(burst.refusedAtFirst)} (${seconds(burst.refusedWithinMs)})`,
    whole(burst.paid),
    whole(burst.twice),
    seconds(burst.medianMs),
    `${seconds(burst.lastMs)} (${(burst.lastMs / burst.idealMs).toFixed(2)})`,
  ];
  const head = [
    'upstream',
    'payments at once',
    'paid by the first request',
    'refused at first (within)',
    'paid in the end',
    'paid twice',
    'median',
    'last (of the ideal)',
  ];
  const other = ({ other: { paid, payments, p99Ms, quietP99Ms } }) => [
    `${whole(paid)} of ${whole(payments)}`,
    `${seconds(p99Ms)} (${(p99Ms / quietP99Ms).toFixed(2)})`,
  ];
  const beside = bursts.filter(({ other }) => other !== null);
  return [
    `${onWhat(machine)} The defaults of the product, with ${permits} permits. In brackets: in times of ` +
      'what the permits allow.',
    markdown([head, ...bursts.filter((burst) => burst.other === null).map(line)]),
    `Beside a client that pays ${rate} times a second, with its own figures. In brackets: in times of its ` +
      'p99 without the burst.',
    markdown([
      [...head, 'paid by it', 'its p99'],
      ...beside.map((burst) => [...line(burst), ...other(burst)]),
    ]),
  ].join('\n\n');
}
