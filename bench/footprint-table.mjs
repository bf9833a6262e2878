import { markdown, onWhat } from './tables.mjs';

export function footprintTable({ machine, ...figures }) {
  const seconds = (value) => `${value.toFixed(2)} s`;
  const lines = [
    [
      'a start with an existing database',
      `${seconds(figures.startSeconds)}, of CPU ${seconds(figures.startCpuSeconds)}`,
    ],
    ['the first start: an embedded Postgres, all tables, the sandbox', seconds(figures.firstStartSeconds)],
    ...(figures.commands ?? []).map(({ command, cpuSeconds }) => [
      `the command \`${command}\``,
      `of CPU ${seconds(cpuSeconds)}`,
    ]),
    ["memory at rest, the proxy's own process", `${figures.rssAtRestMb.toFixed(0)} MB`],
    ...(figures.packagesMb === undefined ? [] : sizes(figures)),
  ];
  return [onWhat(machine), markdown([['figure', 'value'], ...lines])].join('\n\n');
}

function sizes({ packagesMb, allPackagesMb, builtMb }) {
  return [
    ['packages of a production installation (the Dockerfile)', `${packagesMb} MB`],
    ['packages of `npm ci`, with tools, tests, a Postgres and a browser', `${allPackagesMb} MB`],
    ['the built product', `${builtMb} MB`],
  ];
}
