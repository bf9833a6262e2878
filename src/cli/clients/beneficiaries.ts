import { Command } from 'commander';
import { MAX_AT_ONCE } from '../../access/clients/beneficiaries.service';
import { ClientError } from '../../access/clients/client-error';
import {
  Beneficiary,
  ListedBeneficiary,
  REGISTER_LISTS,
  RegisterChangeResult,
  RegisterList,
} from '../../access/clients/register-writes';
import type { WaitingDto } from '../../admin/clients/changes.dto';
import { BENEFICIARY_MUST, readBeneficiary } from '../../http/validation/rules/beneficiary-text';
import { clientServices, withPrisma } from '../database/database';
import { askClients, governed, GOVERNED_HELP, GovernedOptions, makeChange } from '../governed';
import { print } from '../output';
import { standardInput } from '../terminal';

interface Options extends GovernedOptions {
  name: string;
  list: RegisterList;
  recipients: string;
}

type Direction = 'add' | 'remove';

/** A recipient, and the text that names it. */
interface Read {
  text: string;
  one: Beneficiary;
}

const RECIPIENTS =
  'comma-separated email addresses, phone numbers, handles, or receiver: and the ID of a sub-account; - ' +
  'reads them from standard input, one per line';
const LIST = ['--list <list>', `one of ${REGISTER_LISTS.join(', ')}`] as const;
const JSON_OPTION = ['--json', 'print JSON'] as const;

export function beneficiariesCommand(): Command {
  return new Command('beneficiaries')
    .description('manage whom a client may pay, and whom it never pays')
    .addCommand(addCommand())
    .addCommand(removeCommand())
    .addCommand(listCommand());
}

function addCommand(): Command {
  return changing('add', 'add recipients to a list; those that are on it already stay as they are')
    .addHelpText(
      'after',
      `
A client with --beneficiaries-only pays only recipients on its list allowed. No client pays
recipients on its list blocked.
${GOVERNED_HELP}

Examples:
  npm run cli -- clients beneficiaries add --name shop --list allowed --recipients "+254712345678,ada@example.com,@ada"
  npm run cli -- clients beneficiaries add --name shop --list blocked --recipients - --reason "Case 17" < blocked.txt
  npm run cli -- clients update --name shop --beneficiaries-only --beneficiary-cool-off 86400`,
    )
    .action((options: Options) => change(options, 'add'));
}

function removeCommand(): Command {
  return changing('remove', 'remove recipients from a list; those that are not on it are ignored')
    .addHelpText(
      'after',
      `${GOVERNED_HELP}

Examples:
  npm run cli -- clients beneficiaries remove --name shop --list blocked --recipients "+254712345678" --reason "Case 17"`,
    )
    .action((options: Options) => change(options, 'remove'));
}

function changing(name: string, description: string): Command {
  const command = new Command(name)
    .description(description)
    .requiredOption('--name <name>', "the client's name")
    .requiredOption(...LIST)
    .requiredOption('--recipients <list>', RECIPIENTS);
  return governed(command).option(
    '--json',
    'print JSON: the entries, or {"status","change_id","expires_at"} for each change that waits',
  );
}

function listCommand(): Command {
  return new Command('list')
    .description('list the recipients of a client, masked')
    .requiredOption('--name <name>', "the client's name")
    .option(...LIST)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExamples:\n  npm run cli -- clients beneficiaries list --name shop --list blocked --json',
    )
    .action(({ name, list, json }: Pick<Options, 'name' | 'json'> & { list?: RegisterList }) => {
      if (list !== undefined) requireList(list);
      return withPrisma(async (prisma) => {
        const { register } = clientServices(prisma);
        const all: ListedBeneficiary[] = [];
        let page: ListedBeneficiary[];
        do {
          page = await register.list(name, { list, after: all.at(-1)?.id, limit: MAX_AT_ONCE });
          all.push(...page);
        } while (page.length === MAX_AT_ONCE);
        print(all, json);
      });
    });
}

/** Changes a register in parts, each of which is committed with its records, or waits for a second person. */
async function change(options: Options, direction: Direction): Promise<void> {
  const { name, list, recipients, reason, json } = options;
  requireList(list);
  const all = readAll(recipients === '-' ? await standardInput() : recipients);
  const inParts = async (changePart: (part: Read[]) => Promise<RegisterChangeResult | WaitingDto>) => {
    const done: object[] = [];
    for (let from = 0; from < all.length; from += MAX_AT_ONCE) {
      const changed = await changePart(all.slice(from, from + MAX_AT_ONCE));
      done.push(...('change_id' in changed ? [changed] : [...changed.added, ...changed.removed]));
    }
    print(done, json);
  };
  await makeChange(options, {
    onDatabase: ({ register }, by) =>
      inParts((part) => {
        const named = part.map(({ one }) => one);
        return register.change(name, { list, add: [], remove: [], [direction]: named }, by);
      }),
    throughProxy: () =>
      inParts(async (part) => {
        const path = `/v1/clients/${encodeURIComponent(name)}/beneficiaries`;
        const body = { list, [direction]: part.map(({ text }) => text), reason };
        return (await askClients(options, { path, body })) as RegisterChangeResult | WaitingDto;
      }),
  });
}

function requireList(list: string): void {
  if (!REGISTER_LISTS.some((name) => name === list)) {
    throw new ClientError(`--list must be one of ${REGISTER_LISTS.join(', ')}.`);
  }
}

/**
 * @throws ClientError that names every text in no known form by its place, because the text may be a person's
 * contact.
 */
function readAll(list: string): Read[] {
  const texts = list.split(/[,\n]/).filter((text) => text.trim() !== '');
  if (texts.length === 0) throw new ClientError('--recipients must name at least one recipient.');
  const read = texts.map((text) => ({ text, one: readBeneficiary(text) }));
  const wrong = read.flatMap(({ one }, place) => (one ? [] : [place + 1]));
  if (wrong.length > 0)
    throw new ClientError(`--recipients: number ${wrong.join(', ')} ${BENEFICIARY_MUST}.`);
  return read.filter((row): row is Read => row.one !== undefined);
}
