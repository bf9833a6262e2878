import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { erase, ErasureResult, findPlaces } from '../../history/retention/erase';
import { namedIn } from '../../history/retention/person';
import {
  CallingPerson,
  ErasedPersons,
  eraseNamed,
  PersonSearch,
  personsNamed,
} from '../../history/retention/persons';
import { contactOf } from '../../recipients/recipient';
import { print } from '../output';
import { confirm, standardInput, Progress } from '../terminal';
import { RetentionOptions, withRetention } from './audit-prune';

const HELP = `
Erases an email address, phone number, or handle from the history:
  - the recipient, the request body, and the response body of each call that pays it
  - every other body that contains it
  - its mentions in the upstream's listings and in statements
  - the searches of auditors for it
  - idempotency keys that contain it. A request with such a key is still recognized
  - its entries in the registers of clients, and in pending and decided changes of them
The records keep their amounts, and every proof remains valid. Backups are not changed. If the upstream
still lists the contact, the next reconciliation stores it again.

Calls that are in doubt, in progress, or pending approval are not changed. The command lists them and exits
with code 2. Settle them, then run the command again.

Persons on whose behalf clients call are erased by --person, or by --recipient if their name is that
contact. Their records keep the ID of the person. A hash of the name is kept for 31 days, so that a
returning person has the same caps and idempotency keys. Access tokens, ephemeral keys and page sessions
from before the erasure are refused.

Examples:
  npm run cli -- audit erase --recipient ada@example.com --reason "request of 2026-11-20, case 17" --dry-run
  npm run cli -- audit erase --recipient - --reason "case 17" --actor dpo --yes < recipient.txt
  npm run -s cli -- audit erase --person user-17 --client shop --reason "case 18" --dry-run`;

export function auditEraseCommand(): Command {
  return new Command('erase')
    .description('erase a person from the history')
    .option(
      '--recipient <contact>',
      'email address, phone number with +, or handle with @; - reads it from stdin',
    )
    .option('--person <name>', 'name or ID of a person on whose behalf clients call; - reads it from stdin')
    .option('--client <name>', 'with --person, only the person of this client')
    .option('--issuer <url>', "with --person, only the person of this issuer's tokens")
    .requiredOption('--reason <text>', 'reason, which is kept forever and must not identify the person')
    .option('--actor <id>', 'ID of the person who runs this command (default: the user of the system)')
    .option('--dry-run', 'show what would be erased, and change nothing')
    .option('--yes', 'skip the confirmation')
    .option('--json', 'print JSON: {"id","places","open"}, and "kept" for a person')
    .addHelpText('after', HELP)
    .action(run);
}

interface EraseOptions extends RetentionOptions {
  recipient?: string;
  person?: string;
  client?: string;
  issuer?: string;
}

async function run(options: EraseOptions): Promise<void> {
  const { recipient, person, client, issuer } = options;
  if ((recipient === undefined) === (person === undefined)) {
    throw new ClientError('Give either --recipient or --person.');
  }
  if (person !== undefined) return erasePersons({ named: await textOf(person), client, issuer }, options);
  if ((client ?? issuer) !== undefined) throw new ClientError('--client and --issuer belong to --person.');
  return eraseRecipient(await textOf(recipient ?? ''), options);
}

async function textOf(value: string): Promise<string> {
  return value === '-' ? standardInput() : value;
}

async function eraseRecipient(recipient: string, options: RetentionOptions): Promise<void> {
  const person = contactOf(recipient);
  if (!person) {
    throw new ClientError(
      '--recipient must be an email address, a phone number in international format (+…), or a handle (@…).',
    );
  }
  if (namedIn(person)(options.reason)) {
    throw new ClientError(
      '--reason contains the contact to erase, but the reason is kept forever. Give a case number instead.',
    );
  }
  await withRetention(options, async (db, wish) => {
    const progress = new Progress('bodies');
    const search = findPlaces(db, person, (done, of) => progress.at(done, of));
    const bodies = await search.finally(() => progress.end());
    const found = await erase(db, person, bodies, null);
    const nothing = options.dryRun || found.places.length === 0;
    if (!nothing)
      await confirm(`This permanently erases the ${person.kind} from ${count(found)}.`, options.yes);
    const erased = nothing ? found : await erase(db, person, bodies, wish);
    report(erased, options, {
      done: `the ${person.kind} from ${count(erased)}.`,
      nothing: `Nothing to erase: no call with a final outcome contains the ${person.kind}.`,
      open: 'calls have no final outcome yet and were not changed.',
    });
  });
}

async function erasePersons(search: PersonSearch, options: RetentionOptions): Promise<void> {
  await withRetention(options, async (db, wish) => {
    const persons = await personsNamed(db, search);
    requireNoName(options.reason, persons);
    const found = await eraseNamed(db, persons, null);
    const nothing = options.dryRun || found.places.length === 0;
    if (!nothing)
      await confirm(`This permanently erases ${countNames(found)}:\n${list(persons)}\n`, options.yes);
    const erased = nothing ? found : await eraseNamed(db, persons, wish);
    report(erased, options, {
      done: `${countNames(erased)}:\n${list(persons)}`,
      nothing: 'Nothing to erase: no person without open calls has this name or ID.',
      open: 'calls have no final outcome yet, and their persons were not changed.',
      kept: erased.kept,
      keptText:
        `${erased.kept.length} places keep the name: keys of the person, and records of their readings, ` +
        'decisions and changes:',
    });
  });
}

function requireNoName(reason: string, persons: CallingPerson[]): void {
  const words = reason.toLowerCase().split(/[\s,;:()"']+/);
  if (!persons.some(({ name }) => words.includes(name.toLowerCase()))) return;
  throw new ClientError(
    '--reason contains the name to erase, but the reason is kept forever. Give a case number instead.',
  );
}

/** Texts of a report. */
interface Report {
  done: string;
  nothing: string;
  open: string;
  /** Places that keep the erased name. Undefined for a contact. */
  kept?: string[];
  keptText?: string;
}

function report(
  erased: ErasureResult | ErasedPersons,
  { json, dryRun }: RetentionOptions,
  { done, nothing, open, kept = [], keptText = '' }: Report,
): void {
  if (json) print(erased, json);
  else {
    const lines = [erased.places.length === 0 ? nothing : `${dryRun ? 'Would erase' : 'Erased'} ${done}`];
    if (erased.open.length > 0)
      lines.push(`${erased.open.length} ${open} Settle them, then run this command again:`, ...erased.open);
    if (kept.length > 0) lines.push(keptText, ...kept);
    process.stdout.write(`${lines.join('\n')}\n`);
  }
  if (erased.open.length > 0 || kept.length > 0) process.exitCode = 2;
}

function count({ places }: ErasureResult): string {
  const of = (...tables: string[]) =>
    places.filter((place) => tables.includes(place.split('/')[0] ?? '')).length;
  return (
    `${of('item_recipient')} recipients, ${of('intent_body')} requests, ${of('outcome_body')} responses, ` +
    `${of('access_filters')} searches, ${of('idempotency_key')} idempotency keys, ` +
    `${of('beneficiary', 'pending_change')} register entries, and ${of('person')} persons`
  );
}

function countNames({ places }: ErasedPersons): string {
  const of = (table: string) => places.filter((place) => place.startsWith(`${table}/`)).length;
  const [persons, searches] = [of('person'), of('access_filters')];
  return (
    `the names of ${persons} ${persons === 1 ? 'person' : 'persons'}, and ${searches} recorded ` +
    `${searches === 1 ? 'search' : 'searches'}`
  );
}

/** Lists IDs without names, because the output of a command is often kept. */
function list(persons: CallingPerson[]): string {
  return persons
    .map(({ id, client, issuer }) => `${id} of ${client}${issuer === null ? '' : `, ${issuer}`}`)
    .join('\n');
}
