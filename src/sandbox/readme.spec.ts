import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EVENT_RULES, SETTING_RULES } from './behaviour/behaviour-patch';
import { MAGIC } from './behaviour/magic-recipients';
import { FAULTS, FaultRow } from './faults/table';

/** Returns the rows of the table under a heading, with trimmed cells. */
function rowsUnder(heading: string): string[][] {
  const readme = readFileSync(join(__dirname, 'README.md'), 'utf8');
  const [, section = ''] = readme.split(`\n## ${heading}\n`);
  const lines = (section.split('\n## ', 1)[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const code = (text: string) => `\`${text}\``;

describe('the sandbox README', () => {
  it("lists each fault with the code's text", () => {
    const rows = Object.entries<FaultRow>(FAULTS).map(
      ([name, { does, processed, choosesProcessed, settings = {} }]) => [
        code(name),
        does,
        `${processed ? 'yes' : 'no'}${choosesProcessed ? '' : ', always'}`,
        Object.entries(settings)
          .map(([setting, { byDefault, rule }]) => `${code(setting)} ${byDefault}, ${rule.must}`)
          .join('; '),
      ],
    );
    expect(rowsUnder('Faults')).toEqual(rows);
  });

  it('lists each magic recipient', () => {
    const rows = rowsUnder('Magic recipients').map(([name, digits, payout]) => [name, digits, payout]);
    expect(rows).toEqual(
      Object.entries(MAGIC).map(([name, row]) => [
        code(name),
        code(row.digits),
        'does' in row ? row.does : `the fault ${code(row.fault)}`,
      ]),
    );
  });

  it('lists each setting', () => {
    const names = [
      ...Object.keys(SETTING_RULES),
      ...Object.keys(EVENT_RULES).map((name) => `events.${name}`),
    ];
    const named = rowsUnder('Settings').map(([name]) => name);
    expect(named.sort()).toEqual(
      names
        .filter((name) => name !== 'events')
        .map(code)
        .sort(),
    );
  });
});
