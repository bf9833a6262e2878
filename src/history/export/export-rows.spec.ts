import { COLUMNS } from './columns';
import { rowsText } from './export-rows';

describe('a line of an export in JSON', () => {
  const names = COLUMNS.calls.map(({ name }) => name);
  const lineOf = (text: string) =>
    rowsText('ndjson', 'calls', [[text, ...names.slice(2).map(() => null), 7]]);

  it.each(['', 'plain', ' !#[]~é€', '"', '\\', '\n\t\0\u001f', '\u007f\u2028', 'a😀', '\ud83d', '\udc00'])(
    'has %j',
    (text) => {
      const row = Object.fromEntries(names.map((name) => [name, null as string | number | null]));
      Object.assign(row, { [names[0] ?? '']: text, [names.at(-1) ?? '']: 7 });
      expect(lineOf(text)).toBe(`${JSON.stringify(row)}\n`);
    },
  );
});
