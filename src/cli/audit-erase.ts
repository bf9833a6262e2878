import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { erase, Erased, findPlaces } from '../history/retention/erase';
import { namedIn, Person, personOf } from '../history/retention/person';
import { confirm } from './confirm';
import { print } from './output';
import { Progress } from './progress';
import { RetentionOptions, withRetention } from './retention';

const HELP = `
Takes the e-mail address, phone number or handle out of the history: of each call of which it is a recipient, what was sent and
answered, and the recipient; every other body that names it; what the upstream's listings and statements said of it; and whom
auditors searched for. The records stay, with their amounts, and every proof of them holds. What the upstream goes on listing
comes again with the next reconciliation. Calls that are in doubt, in progress or waiting for an approval are left as they are
and listed, and the exit code is 2: settle them, and run it again. Backups have their own lives.

Examples:
  npm run cli -- audit erase --recipient ada@example.com --reason "request of 2026-11-20, case 17" --dry-run
  npm run cli -- audit erase --recipient - --reason "case 17" --actor dpo --yes < recipient.txt`;

export function auditEraseCommand(): Command {
  return new Command('erase')
    .description('take a person out of the history')
    .requiredOption(
      '--recipient <contact>',
      'e-mail address, phone number with +, or handle with @; - reads it from standard input',
    )
    .requiredOption('--reason <text>', 'why; it is kept for good, so it must not say who')
    .option('--actor <id>', 'who does this, by an id')
    .option('--dry-run', 'only say what would be erased')
    .option('--yes', 'do not ask')
    .option('--json', 'for machines: {"id","places","open"}')
    .addHelpText('after', HELP)
    .action(run);
}

async function run(options: RetentionOptions & { recipient: string }): Promise<void> {
  const person = personOf(options.recipient === '-' ? await standardInput() : options.recipient);
  if (!person) {
    throw new ClientError(
      '--recipient must be an e-mail address, a phone number in international format (+…) or a handle (@…)',
    );
  }
  if (namedIn(person)(options.reason)) {
    throw new ClientError('--reason says who is to be erased, and is kept for good; give the number of a case instead');
  }
  await withRetention(options, async (db, wish) => {
    const progress = new Progress('bodies');
    const bodies = await findPlaces(db, person, (done, of) => progress.at(done, of)).finally(() => progress.end());
    const found = await erase(db, person, bodies, null);
    const nothing = options.dryRun || found.places.length === 0;
    if (!nothing) await confirm(`${count(found)} will be erased for good.`, options.yes);
    report(nothing ? found : await erase(db, person, bodies, wish), person, options);
  });
}

function report(erased: Erased, { kind }: Person, { json, dryRun }: RetentionOptions): void {
  if (json) print(erased, json);
  else {
    const done = erased.places.length === 0 ? 'nothing of this' : count(erased);
    process.stdout.write(`${done} ${kind} ${dryRun ? 'would be' : 'was'} erased\n`);
    if (erased.open.length > 0) {
      process.stdout.write(
        `${erased.open.length} calls are not over and were left as they are; run it again when they are:\n${erased.open.join('\n')}\n`,
      );
    }
  }
  if (erased.open.length > 0) process.exitCode = 2;
}

function count({ places }: Erased): string {
  const of = (table: string) => places.filter((place) => place.startsWith(`${table}/`)).length;
  return `${of('item_recipient')} recipients, ${of('intent_body')} requests, ${of('outcome_body')} answers and ${of('access_filters')} searches that have this`;
}

async function standardInput(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) text += String(chunk);
  return text.trim();
}
