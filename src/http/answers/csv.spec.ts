import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { runs } from '../../../test/support/examples/runs';
import { Cell, csvLine, withoutMark } from './csv';

/** Removes the mark as the documentation describes for programs. */
const undone = (cell: string) => (cell.startsWith("'") ? cell.slice(1) : cell);

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('=', '+', '-', '@', "'", '"', ',', ';', '\r', '\n', '\t', '＝', 'a', '1', '#', ' '),
  }),
);

describe('a line of CSV', () => {
  it('is read by other programs as it was written', () => {
    // A line of one empty cell is a blank line.
    const rows = fc
      .integer({ min: 2, max: 5 })
      .chain((width) =>
        fc.array(fc.array(texts, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 5 }),
      );
    fc.assert(
      fc.property(rows, (written) => {
        const read: string[][] = parse(written.map((cells) => csvLine(cells)).join(''), {
          recordDelimiter: '\r\n',
        });
        expect(read.map((row) => row.map(undone))).toEqual(written);
      }),
      { numRuns: runs(300) },
    );
  });

  it('marks cells that a spreadsheet would read as formulas', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const [[cell] = []] = parse(csvLine([text, 'x']), { recordDelimiter: '\r\n' });
        expect(cell).not.toMatch(/^[=+\-@\t\r\n＝＋－＠]/);
      }),
      { numRuns: runs(300) },
    );
  });

  it.each<[Cell[], string]>([
    [['a', 1.5, null, ''], 'a,1.5,,'],
    [['=HYPERLINK("x")'], `"'=HYPERLINK(""x"")"`],
    [['+2348012345678', '-1', '@ada', '＝1'], "'+2348012345678,'-1,'@ada,'＝1"],
    [["'=1", "it's"], "''=1,it's"],
    [[-1.5, 'a;b'], '-1.5,a;b'],
    [['a\r\nb', '\tx'], `"a\r\nb",'\tx`],
  ])('is written from %j as %s', (cells, line) => expect(csvLine(cells)).toBe(`${line}\r\n`));

  it('can have semicolons between its cells', () => {
    expect(csvLine(['a;b', 'a,b', '=1'], ';')).toBe(`"a;b";a,b;'=1\r\n`);
  });

  it('is restored without its mark, and keeps an apostrophe of its own', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const [[cell = ''] = []] = parse(csvLine([text, 'x']), { recordDelimiter: '\r\n' });
        expect(withoutMark(cell)).toBe(text);
      }),
    );
    expect(withoutMark("'tis so")).toBe("'tis so");
  });
});
