import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LOCKS } from '../../src/platform/database/locks';
import { readMigrations } from '../../src/platform/database/migrations/migration-files';
import { GROUNDS } from '../../src/reconciliation/book/pairing/grounds';
import { sourceFiles } from '../support/examples/source';

/** Each shared rule has one place. These tests find its copies by their text. */

const folder = join(__dirname, '..', '..', 'prisma', 'migrations');
const migrations = readMigrations(folder);
const script = migrations.map(({ sql }) => sql).join('\n');
const product = sourceFiles('src').filter(({ path }) => !path.endsWith('.spec.ts'));

/** Returns the files that match, without those that may. */
function filesWith(text: RegExp, allowed: string[]): string[] {
  return product
    .map((file) => (text.test(file.text) ? file.path : ''))
    .filter((path) => path && !allowed.includes(path));
}

/** Numbers of this range are numbers of locks, in code and in SQL. */
const LOCK_NUMBER = /\b7_?070_?\d{3}\b/;

describe('a rule with one place', () => {
  it('is in platform/schema for decorators that describe a field', () => {
    const makers = filesWith(/(?<!@)\bApiProperty(?:Optional)?\(/, [
      'src/http/validation/rules/rules.ts', // describes a field by its rule
      'src/platform/schema/fields.ts',
    ]);
    expect(makers).toEqual([]);
  });

  it('is in platform/schema for nullable fields', () => {
    expect(filesWith(/type: 'null'/, ['src/platform/schema/fields.ts'])).toEqual([]);
  });

  it('is in platform/schema for page tokens', () => {
    expect(filesWith(/(?<!@nextPageToken\(\) )next_page_token!/, [])).toEqual([]);
    expect(filesWith(/(?<!@PageToken\(\w*\)\s+)page_token\?:/, ['src/platform/schema/page.ts'])).toEqual([]);
  });

  it('is in platform/errors for error codes', () => {
    const readers = filesWith(/as \{ code\?: (?:string|unknown)|function codeOf/, [
      'src/platform/errors/error-code.ts',
    ]);
    expect(readers.filter((path) => !path.startsWith('src/sandbox/'))).toEqual([]);
  });

  it('is in platform/json for object checks', () => {
    const askers = filesWith(/\w !== null && !Array\.isArray/, ['src/platform/json/is-object.ts']);
    expect(askers.filter((path) => !path.startsWith('src/sandbox/'))).toEqual([]);
  });

  it('names a SQL twin that exists, and is named by files that exist', () => {
    const named = product.flatMap(
      ({ text }) => text.match(/SQL[\s*]+functions?[\s*]+(?:[\w.]+\(\)(?:,| and)?[\s*]*)+/g) ?? [],
    );
    const functions = [...new Set(named.flatMap((words) => words.match(/[\w.]+(?=\(\))/g) ?? []))];
    const missing = functions.filter((name) => !script.includes(`FUNCTION ${name}(`));
    expect([missing, functions.length > 15]).toEqual([[], true]);
    // A released migration cannot change, and names files by what they were called.
    const released = Object.keys(JSON.parse(readFileSync(join(folder, 'released.json'), 'utf8')) as object);
    const files = migrations
      .filter(({ name }) => !released.includes(name))
      .flatMap(({ sql }) => sql.match(/src\/[\w/.-]+\.ts/g) ?? []);
    expect(files.filter((file) => product.every(({ path }) => path !== file))).toEqual([]);
  });

  it('is in access/people for the identity of persons', () => {
    const namesOfPeople = '(?:actor|claimedActor|person|owner|requester|decider|identity)(?:[?!]?\\.name)?';
    const people = [
      'src/access/people/person.ts',
      'src/access/people/same-person.ts',
      'src/access/people/merges.ts',
    ];
    const comparing = [
      `\\b${namesOfPeople}[?!]?\\.(?:toLowerCase|localeCompare)\\(`,
      `\\b${namesOfPeople}\\)? [!=]== (?!null|undefined|'|\\d)`,
      '\\blower\\((?:\\w+\\.)?(?:actor|person|decider_person)\\)',
      '\\bk\\.person = ',
    ];
    for (const text of comparing) expect(filesWith(new RegExp(text), people)).toEqual([]);
    expect(filesWith(/humans_behind\(|\bsame_as\b|\bperson_identity\b/, people)).toEqual([
      'src/expiry/expiries.ts', // removes the identities of erased people
      'src/platform/database/checks/rights.ts',
    ]);
  });

  it('is in expiry for the removal of expired rows', () => {
    const removers = filesWith(/DELETE FROM[^`;]*(?:\bnow\(\)|clock_timestamp\(\)|\bisIdle|hasEnded)/, []);
    expect(removers.filter((path) => !path.startsWith('src/expiry/'))).toEqual([]);
  });

  it('is in platform/database/locks.ts for lock numbers', () => {
    const others = [...product, ...sourceFiles('test')].filter(
      ({ path }) => path !== 'src/platform/database/locks.ts',
    );
    expect(others.filter(({ text }) => LOCK_NUMBER.test(text)).map(({ path }) => path)).toEqual([]);
  });

  it('has a unique lock number, and knows those of the migrations', () => {
    const numbers: number[] = Object.values(LOCKS);
    expect(new Set(numbers).size).toBe(numbers.length);
    const taken = script.match(new RegExp(LOCK_NUMBER, 'g')) ?? [];
    expect(taken.map(Number).filter((number) => !numbers.includes(number))).toEqual([]);
    expect(taken.length).toBeGreaterThan(5);
  });

  it('is in book/pairing for the rules that attribute transactions', () => {
    const [, grounds] = /ground IN \(([^)]*)\)/.exec(script) ?? [];
    expect(grounds?.match(/\w+/g)).toEqual(Object.keys(GROUNDS));
  });

  it('is in recipients for the spelling of a recipient', () => {
    const names = '(?:email|phone|phoneNumber|handle|twitter|receiver|recipient|payee)';
    const inTypeScript = `\\b${names}\\b[?!)]*\\.(?:toLowerCase|normalize|replace|replaceAll|trim|localeCompare)\\(`;
    const inSql =
      `(?:lower|ltrim|btrim|translate|regexp_replace)\\((?:\\w+\\.)?${names}\\b|\\b(?:email|phone|handle) ` +
      `= \\w+\\.(?:email|phone|handle)\\b`;
    const folders = ['src/recipients/', 'src/sandbox/', 'src/platform/privacy/'];
    const spelling = filesWith(new RegExp(`${inTypeScript}|${inSql}`), []);
    expect(spelling.filter((path) => !folders.some((folder) => path.startsWith(folder)))).toEqual([]);
  });

  it('is in recipients for numbering plans and domains', () => {
    const planning = filesWith(/from 'libphonenumber-js|domainToASCII/, []);
    expect(planning.filter((path) => !path.startsWith('src/recipients/'))).toEqual([]);
  });
});
