import { markdown, onWhat } from './tables.mjs';

/** The table of bench:sandbox. */
export function sandboxTable({ machine, payments, rounds, connections, rows }) {
  const whole = (value) => value.toLocaleString('en', { maximumFractionDigits: 0 });
  const lines = rows.map(({ name, way, perSecond, others, cpu }) => [
    name,
    way,
    ...[cpu.sandbox, cpu.postgres, cpu.proxy, cpu.load].map((ms) => `${ms.toFixed(2)} ms`),
    whole((machine.cores * 1_000) / (cpu.sandbox + cpu.postgres + cpu.proxy + cpu.load)),
    whole(perSecond),
    others.toFixed(1),
  ]);
  return [
    `${onWhat(machine)} ${whole(payments)} payments of two items a turn, ${connections} connections, ` +
      `${rounds} rounds. The median of the rounds counts. CPU is of one payment. _Possible_ is what the ` +
      'cores allow at this cost. _Measured_ shares them with other programs: _others_ is how many cores ' +
      'they used.',
    markdown([
      [
        'sandbox',
        'payments',
        'CPU of the sandbox',
        'of Postgres',
        'of the proxy',
        'of the load',
        'possible/s',
        'measured/s',
        'others',
      ],
      ...lines,
    ]),
  ].join('\n\n');
}
