/** Result of a scenario in the results file. */
export interface ScenarioResult {
  title: string;
  promised: string;
  factor: number;
  at: string;
  commit: string | null;
  cores: number;
  cpu: string;
  memoryGb: number;
  system: string;
  node: string;
  postgres: string;
  did: string;
  seen: string[];
  broken: string[];
  isMissing?: boolean;
  seconds?: number;
}

/** Joins the wrapped lines of each paragraph and list item. */
const unwrapped = (text: string): string => text.replace(/(?<!\n)\n(?!\n|- )/g, ' ');

const INTRODUCTION = unwrapped(`# Reliability

This page shows the results of fault injection. \`npm run trust\` starts the product as in production:
instances, a worker, Postgres and [the sandbox](../src/sandbox/README.md) as the upstream, each in its own
process. Apps pay all the time. Meanwhile, the processes are killed, frozen, overloaded and starved. The
command writes this page.`);

const AUDIT = unwrapped(`## The audit of each scenario

After a scenario, the apps retry every request without a final answer, and the worker settles calls in doubt.
Then the audit compares every payment in three places: the answer to its app, the history, and
\`/_sandbox/requests\`, which the sandbox writes before it executes a request. It counts these differences:

- **unrecorded**: a request arrived at the upstream without an intent in the history.
- **phantom**: the history has an answer of the upstream to a request that never arrived.
- **twice**: an order was carried out twice.
- **lost**: a payment was acknowledged to its app, but is missing from the history or the upstream.
- **in doubt**: the outcome is still unknown after the worker has read the upstream's list.
- **over a cap**: a client, or a person of a client, has spent more than the cap, by the count of the proxy or
of the upstream.

\`npm run cli -- audit verify\` must pass too. A scenario keeps its promise if all counts are 0, unless it
explains them.`);

const NOT_COVERED = unwrapped(`## Limits

- Everything runs on one machine. The scenarios do not simulate lost, delayed or reordered packets between
machines, or clocks that differ. [The model](internals/guides/test-under-faults.md#the-model) has wrong clocks
and suspended processes.
- A kill ends processes. The machine goes on, so nothing in its page cache is lost. The loss at a power
failure depends on the disk and on \`fsync\`, which is on here.
- The sandbox simulates faults that providers have shown. No telco is involved.
- Kills follow a fixed pattern under load. They meet many points of a request, but not all.
\`test/continuity/failover/crash-points.spec.ts\` stops a payout at each point.
- The runs take minutes. \`npm run bench:growth\` and \`bench:soak\` measure effects of days.`);

const USAGE = `\`\`\`sh
npm run trust                             # all scenarios, about 30 minutes on two quiet cores
npm run trust -- --only failover          # one of them
npm run trust -- --factor 0.1             # all of them, with a tenth of the counts and times
\`\`\``;

/**
 * Writes docs/reliability.md.
 * @param scenarios the results, by the names of the scenarios.
 * @param names of all scenarios. The page lists those without a result.
 */
export function documentOf(scenarios: Record<string, ScenarioResult>, names: string[]): string {
  const all = Object.entries(scenarios);
  const without = names.filter((name) => !scenarios[name] || scenarios[name].isMissing);
  const broken = all.filter(([, { broken }]) => broken.length > 0);
  const kept = all.filter(([, { broken, isMissing }]) => broken.length === 0 && !isMissing);
  const verdict = [
    broken.length === 0
      ? `All ${kept.length} scenarios${without.length > 0 ? ' that ran' : ''} kept their promises.`
      : `${kept.length} scenarios kept their promises. **${broken.length} did not: ` +
        `${inCode(broken.map(([name]) => name))}.**`,
    ...(without.length > 0 ? [`Without a result: ${inCode(without)}.`] : []),
  ].join(' ');
  return `${[
    INTRODUCTION,
    verdict,
    USAGE,
    '## Results',
    tableOf(
      ['scenario', 'what was done', 'promised', 'seen'],
      all.map(([name, result]) => rowOf(name, result)),
    ),
    ...(broken.length > 0
      ? ['## Broken promises', broken.map(([name, result]) => brokenOf(name, result)).join('\n')]
      : []),
    AUDIT,
    NOT_COVERED,
    '## Where it ran',
    tableOf(
      ['scenario', 'when', 'commit', 'factor', 'took'],
      all.map(([name, { at, commit, factor, seconds }]) => [
        `\`${name}\``,
        `${at.slice(0, 16).replace('T', ' ')} UTC`,
        commit ?? 'unknown',
        String(factor),
        seconds === undefined ? 'not run' : `${seconds} s`,
      ]),
    ),
    [...new Set(all.map(([, result]) => machineOf(result)))].map((machine) => `- ${machine}`).join('\n'),
  ].join('\n\n')}\n`;
}

const inCode = (names: string[]): string => names.map((name) => `\`${name}\``).join(', ');

function rowOf(name: string, { title, did, promised, seen, broken, isMissing }: ScenarioResult): string[] {
  const verdict = isMissing ? 'not run' : broken.length > 0 ? '**broken**' : 'kept';
  return [`${title} (\`${name}\`)`, did, promised, [verdict, ...seen].join('<br>')];
}

const brokenOf = (name: string, { broken }: ScenarioResult): string =>
  broken.map((text) => `- \`${name}\`: ${oneLine(text)}`).join('\n');

/** Drops the stack after the first line. */
const oneLine = (text: string): string => text.split('\n', 1)[0]?.slice(0, 400) ?? '';

const machineOf = ({ cores, cpu, memoryGb, system, node, postgres }: ScenarioResult): string =>
  `${cores} cores (${cpu}), ${memoryGb} GB of memory, ${system}, Node ${node.slice(1)}, PostgreSQL ` +
  `${postgres}`;

function tableOf(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
