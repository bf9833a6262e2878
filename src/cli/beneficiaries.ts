import { Command } from 'commander';
import { MAX_AT_ONCE } from '../access/clients/beneficiaries.service';
import { Beneficiary, REGISTER_LISTS, RegisterList } from '../access/clients/beneficiary';
import { ClientError } from '../access/clients/client-error';
import { ListedBeneficiary, RegisterChange } from '../access/clients/register-writes';
import { BENEFICIARY_MUST, readBeneficiary } from '../admin/clients/beneficiary-text';
import { changedByOperator } from './changed-by';
import { withBeneficiaries } from './database';
import { print } from './output';
import { standardInput } from './standard-input';

interface Options {
  name: string;
  list: RegisterList;
  recipients: string;
  reason?: string;
  json?: boolean;
}

const RECIPIENTS =
  'comma-separated email addresses, phone numbers, handles, or receiver: and the ID of a sub-account; - reads them from standard input, one per line';
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
A client with --beneficiaries-only pays only recipients on its list allowed. No client pays recipients on its list blocked.

Examples:
  npm run cli -- clients beneficiaries add --name shop --list allowed --recipients "+254712345678,ada@example.com,@ada"
  npm run cli -- clients beneficiaries add --name shop --list blocked --recipients - --reason "Case 17" < blocked.txt
  npm run cli -- clients update --name shop --beneficiaries-only --beneficiary-cool-off 86400`,
    )
    .action((options: Options) => change(options, (add) => ({ add, remove: [] })));
}

function removeCommand(): Command {
  return changing('remove', 'remove recipients from a list; those that are not on it are ignored')
    .addHelpText(
      'after',
      `
Examples:
  npm run cli -- clients beneficiaries remove --name shop --list blocked --recipients "+254712345678" --reason "Case 17"`,
    )
    .action((options: Options) => change(options, (remove) => ({ add: [], remove })));
}

function changing(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .requiredOption('--name <name>', "the client's name")
    .requiredOption(...LIST)
    .requiredOption('--recipients <list>', RECIPIENTS)
    .option('--reason <text>', 'reason, which is recorded')
    .option(...JSON_OPTION);
}

function listCommand(): Command {
  return new Command('list')
    .description('list the recipients of a client, masked')
    .requiredOption('--name <name>', "the client's name")
    .option(...LIST)
    .option(...JSON_OPTION)
    .addHelpText('after', '\nExamples:\n  npm run cli -- clients beneficiaries list --name shop --list blocked --json')
    .action(({ name, list, json }: Pick<Options, 'name' | 'json'> & { list?: RegisterList }) => {
      if (list !== undefined) requireList(list);
      return withBeneficiaries(async (register) => {
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

/** Changes a register in parts, each of which is committed with its records. */
async function change(
  { name, list, recipients, reason, json }: Options,
  changeOf: (part: Beneficiary[]) => Pick<RegisterChange, 'add' | 'remove'>,
): Promise<void> {
  requireList(list);
  const by = changedByOperator(reason);
  const all = readAll(recipients === '-' ? await standardInput() : recipients);
  await withBeneficiaries(async (register) => {
    const entries: ListedBeneficiary[] = [];
    for (let from = 0; from < all.length; from += MAX_AT_ONCE) {
      const part = all.slice(from, from + MAX_AT_ONCE);
      const { added, removed } = await register.change(name, { list, ...changeOf(part) }, by);
      entries.push(...added, ...removed);
    }
    print(entries, json);
  });
}

function requireList(list: string): void {
  if (!REGISTER_LISTS.some((name) => name === list)) {
    throw new ClientError(`--list must be one of ${REGISTER_LISTS.join(', ')}.`);
  }
}

/** @throws ClientError that names every text in no known form by its place, because the text may be a person's contact. */
function readAll(text: string): Beneficiary[] {
  const texts = text.split(/[,\n]/).filter((one) => one.trim() !== '');
  const read = texts.map(readBeneficiary);
  const wrong = read.flatMap((one, place) => (one ? [] : [place + 1]));
  if (wrong.length > 0) throw new ClientError(`--recipients: number ${wrong.join(', ')} ${BENEFICIARY_MUST}.`);
  if (texts.length === 0) throw new ClientError('--recipients must name at least one recipient.');
  return read.filter((one) => one !== undefined);
}
