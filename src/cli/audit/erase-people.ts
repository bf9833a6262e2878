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
import { RetentionOptions, withRetention } from './with-retention';

export interface EraseOptions extends RetentionOptions {
  recipient?: string;
  person?: string;
  client?: string;
  issuer?: string;
}

export async function erasePeople(options: EraseOptions): Promise<void> {
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
