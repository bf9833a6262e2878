import { sourceFiles } from './support/source';

/** Each shared rule has one place. These tests find its copies by their text. */

const product = sourceFiles('src').filter(({ path }) => !path.endsWith('.spec.ts'));

/** Returns the files that match, without those that may. */
function filesWith(text: RegExp, allowed: string[]): string[] {
  return product
    .map((file) => (text.test(file.text) ? file.path : ''))
    .filter((path) => path && !allowed.includes(path));
}

/** They describe the limits of clients and persons by helpers of their own. */
const LIMITS = [
  'src/admin/clients/client-answers.dto.ts',
  'src/admin/clients/person-limits.dto.ts',
  'src/admin/limits/limits.dto.ts',
  'src/credentials/ephemeral-keys/ephemeral-keys.dto.ts',
  'src/history/access-log/activity-state.dto.ts',
];

describe('the one place of a rule', () => {
  it('is platform/schema for decorators that describe a field', () => {
    const makers = filesWith(/(?<!@)\bApiProperty(?:Optional)?\(/, [
      ...LIMITS,
      'src/http/validation/rules.ts', // describes a field by its rule
      'src/platform/schema/fields.ts',
    ]);
    expect(makers).toEqual([]);
  });

  it('is platform/schema for fields that may be null', () => {
    expect(filesWith(/type: 'null'/, [...LIMITS, 'src/platform/schema/fields.ts'])).toEqual([]);
  });

  it('is platform/schema for page tokens', () => {
    expect(filesWith(/(?<!@nextPageToken\(\) )next_page_token!/, [])).toEqual([]);
    expect(filesWith(/(?<!@PageToken\(\w*\)\s+)page_token\?:/, ['src/platform/schema/page.ts'])).toEqual([]);
  });

  it('gives each lock of the database a number of its own', () => {
    const all = product.flatMap(({ text }) => text.match(/(?<=LOCKS? = )7_070_\d+/g) ?? []);
    expect(all).toEqual([...new Set(all)]);
  });
});
