/** The result of one scenario in the results file. */
export interface Kept {
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

const INTRODUCTION = `# Reliability

This page shows what happened when things broke. \`npm run trust\` starts the product as its users do: instances, a worker, Postgres and [the sandbox](../src/sandbox/README.md) as the upstream, each a process of its own. Apps pay through it all the time. Meanwhile, the processes are killed, frozen, overloaded and starved. The command writes this page.`;

const AUDIT = `## The audit of each scenario

Afterwards, the apps send again what has no final answer, and the worker settles what it can. Then every payment is compared, one by one, between what its app was told, the history, and \`/_sandbox/requests\`, which the sandbox writes before it does anything:

- **unrecorded**: a request arrived at the upstream, and no intent says so.
- **phantom**: the history has an answer of the upstream to a request that never arrived.
- **twice**: an order was carried out twice, whatever its app repeated.
- **lost**: an app was told that its payment was made, and the history or the upstream does not have it.
- **in doubt**: nobody knows the outcome, also after the worker has read the upstream's list.

No client, and no person of a client, may have spent more than the cap, by the proxy's count and by the upstream's: **over a cap**. \`npm run cli -- audit verify\` must pass. A scenario keeps its promise if all of these are 0, unless it says why.`;

const NOT_COVERED = `## What this does not show

- Everything runs on one machine. A network that loses, delays or reorders packets between machines is not simulated, nor are clocks that differ. [The model](internals/guides/test-under-faults.md#the-model) has wrong clocks and suspended processes.
- A kill ends processes. The machine goes on, so nothing that was written to its page cache is lost. What a disk loses at a power failure depends on the disk and on \`fsync\`, which is on here.
- The sandbox is no provider. It has faults of kinds that were seen, but no telco stands behind it.
- Kills come at times that follow a fixed pattern under load. They meet many points of a request, not each. \`test/continuity/failover/crash-points.spec.ts\` stops a payout at each point.
- The runs take minutes. What needs days to build up is measured by \`npm run bench:growth\` and \`bench:soak\`.`;

/**
 * Writes docs/reliability.md.
 * @param scenarios the results, by the names of the scenarios.
 * @param names of all scenarios. The page lists those without a result.
 */
export function documentOf(scenarios: Record<string, Kept>, names: string[]): string {
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
    `${verdict}\n\n\`\`\`sh\nnpm run trust                             # all scenarios, about 30 ` +
      `minutes on two quiet cores\nnpm run trust -- --only failover          # one of them\nnpm run trust ` +
      `-- --factor 0.1             # all of them, with a tenth of the counts and times\n\`\`\``,
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

function rowOf(name: string, { title, did, promised, seen, broken, isMissing }: Kept): string[] {
  const verdict = isMissing ? 'not run' : broken.length > 0 ? '**broken**' : 'kept';
  return [`${title} (\`${name}\`)`, did, promised, [verdict, ...seen].join('<br>')];
}

const brokenOf = (name: string, { broken }: Kept): string =>
  broken.map((text) => `- \`${name}\`: ${oneLine(text)}`).join('\n');

/** Drops the stack after the first line. */
const oneLine = (text: string): string => text.split('\n', 1)[0]?.slice(0, 400) ?? '';

const machineOf = ({ cores, cpu, memoryGb, system, node, postgres }: Kept): string =>
  `${cores} cores (${cpu}), ${memoryGb} GB of memory, ${system}, Node ${node.slice(1)}, PostgreSQL ` +
  `${postgres}`;

function tableOf(head: string[], rows: string[][]): string {
  const line = (cells: string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
