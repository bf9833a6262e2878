import { ClientError } from '../access/clients/client-error';
import { CallingPerson, ErasedPersons, eraseNamed, PersonSearch, personsNamed } from '../history/retention/persons';
import { confirm } from './confirm';
import { print } from './output';
import { RetentionOptions, withRetention } from './retention';

/** Erases persons on whose behalf clients call. */
export async function erasePersons(search: PersonSearch, options: RetentionOptions): Promise<void> {
  await withRetention(options, async (db, wish) => {
    const persons = await personsNamed(db, search);
    requireNoName(options.reason, persons);
    const found = await eraseNamed(db, persons, null);
    const nothing = options.dryRun || found.places.length === 0;
    if (!nothing) await confirm(`This permanently erases ${count(found)}:\n${list(persons)}\n`, options.yes);
    report(nothing ? found : await eraseNamed(db, persons, wish), persons, options);
  });
}

function requireNoName(reason: string, persons: CallingPerson[]): void {
  const words = reason.toLowerCase().split(/[\s,;:()"']+/);
  if (!persons.some(({ name }) => words.includes(name.toLowerCase()))) return;
  throw new ClientError(
    '--reason contains the name to erase, but the reason is kept forever. Give a case number instead.',
  );
}

function report(erased: ErasedPersons, persons: CallingPerson[], { json, dryRun }: RetentionOptions): void {
  if (json) print(erased, json);
  else {
    const done = `${dryRun ? 'Would erase' : 'Erased'} ${count(erased)}:\n${list(persons)}`;
    const nothing = 'Nothing to erase: no person without open calls has this name or ID.';
    process.stdout.write(`${erased.places.length === 0 ? nothing : done}\n`);
    if (erased.open.length > 0) {
      process.stdout.write(
        `${erased.open.length} calls have no final outcome yet, and their persons were not changed. Settle them, then run this command again:\n${erased.open.join('\n')}\n`,
      );
    }
    if (erased.kept.length > 0) {
      process.stdout.write(
        `${erased.kept.length} places keep the name: sealed records of earlier versions until their months are pruned, keys that belong to the person, and records of who read, decided or changed something:\n${erased.kept.join('\n')}\n`,
      );
    }
  }
  if (erased.open.length > 0 || erased.kept.length > 0) process.exitCode = 2;
}

function count({ places }: ErasedPersons): string {
  const of = (table: string) => places.filter((place) => place.startsWith(`${table}/`)).length;
  const [persons, searches] = [of('person'), of('access_filters')];
  return `the names of ${persons} ${persons === 1 ? 'person' : 'persons'}, and ${searches} recorded ${searches === 1 ? 'search' : 'searches'}`;
}

/** Names nobody, because the output of a command is often kept. */
function list(persons: CallingPerson[]): string {
  return persons
    .map(({ id, client, issuer }) => `${id} of ${client}${issuer === null ? '' : `, ${issuer}`}`)
    .join('\n');
}
