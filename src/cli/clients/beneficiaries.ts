import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { MAX_AT_ONCE, REGISTER_LISTS, RegisterList } from '../../access/clients/register-lists';
import type {
  Beneficiary,
  ListedBeneficiary,
  RegisterChangeResult,
} from '../../access/clients/register-writes';
import type { WaitingDto } from '../../access/dual-control/pending-response';
import { withDualControlOptions, DUAL_CONTROL_HELP, DualControlOptions, makeChange } from '../dual-control';
import { print } from '../output';
import { callClientApi } from '../proxy-client';
import { standardInput } from '../terminal';

interface Options extends DualControlOptions {
  name: string;
  list: RegisterList;
  recipients: string;
}

type Direction = 'add' | 'remove';

/** A recipient and its text. */
interface ParsedRecipient {
  text: string;
  beneficiary: Beneficiary;
}

const RECIPIENTS =
  'comma-separated email addresses, phone numbers, handles, or receiver:ID of sub-accounts; - reads them ' +
  'from standard input, one per line';
const LIST = ['--list <list>', `one of ${REGISTER_LISTS.join(', ')}`] as const;
const JSON_OPTION = ['--json', 'print JSON'] as const;

const ADD_HELP = `
A client with --beneficiaries-only pays only recipients on its list allowed. No client pays recipients on its
list blocked.
${DUAL_CONTROL_HELP}

Examples:
  npm run cli -- clients beneficiaries add --name shop --list allowed \\
    --recipients "+254712345678,ada@example.com,@ada"
  npm run cli -- clients beneficiaries add --name shop --list blocked --recipients - \\
    --reason "Case 17" < blocked.txt
  npm run cli -- clients update --name shop --beneficiaries-only --beneficiary-cool-off 86400`;

const REMOVE_HELP = `${DUAL_CONTROL_HELP}

Examples:
  npm run cli -- clients beneficiaries remove --name shop --list blocked \\
    --recipients "+254712345678" --reason "Case 17"`;

export function beneficiariesCommand(): Command {
  return new Command('beneficiaries')
    .description("manage a client's lists of allowed and blocked recipients")
    .addCommand(addCommand())
    .addCommand(removeCommand())
    .addCommand(listCommand());
}

function addCommand(): Command {
  return changeCommand('add', 'add recipients to a list; those on it stay unchanged')
    .addHelpText('after', ADD_HELP)
    .action((options: Options) => change(options, 'add'));
}

function removeCommand(): Command {
  return changeCommand('remove', 'remove recipients from a list; those not on it are ignored')
    .addHelpText('after', REMOVE_HELP)
    .action((options: Options) => change(options, 'remove'));
}

function changeCommand(name: string, description: string): Command {
  const command = new Command(name)
    .description(description)
    .requiredOption('--name <name>', 'name of the client')
    .requiredOption(...LIST)
    .requiredOption('--recipients <list>', RECIPIENTS);
  return withDualControlOptions(command).option(
    '--json',
    'print JSON: the entries, or {"status","change_id","expires_at"} for each change that waits',
  );
}

function listCommand(): Command {
  return new Command('list')
    .description('list the recipients of a client, masked')
    .requiredOption('--name <name>', 'name of the client')
    .option(...LIST)
    .option(...JSON_OPTION)
    .addHelpText(
      'after',
      '\nExamples:\n  npm run cli -- clients beneficiaries list --name shop --list blocked --json',
    )
    .action(list);
}

type ListOptions = Pick<Options, 'name' | 'json'> & { list?: RegisterList };

async function list({ name, list, json }: ListOptions): Promise<void> {
  if (list !== undefined) requireList(list);
  const { withServices } = await import('../database/services.js');
  await withServices(async ({ register }) => {
    const all: ListedBeneficiary[] = [];
    let page: ListedBeneficiary[];
    do {
      page = await register.list(name, { list, after: all.at(-1)?.id, limit: MAX_AT_ONCE });
      all.push(...page);
    } while (page.length === MAX_AT_ONCE);
    print(all, json);
  });
}

/** Changes a register in parts. Each part is committed with its records, or waits for a second person. */
async function change(options: Options, direction: Direction): Promise<void> {
  const { name, list, recipients, reason, json } = options;
  requireList(list);
  const all = await readAll(recipients === '-' ? await standardInput() : recipients);
  const inParts = async (
    changePart: (part: ParsedRecipient[]) => Promise<RegisterChangeResult | WaitingDto>,
  ) => {
    const results: object[] = [];
    for (let from = 0; from < all.length; from += MAX_AT_ONCE) {
      const result = await changePart(all.slice(from, from + MAX_AT_ONCE));
      results.push(...('change_id' in result ? [result] : [...result.added, ...result.removed]));
    }
    print(results, json);
  };
  await makeChange(options, {
    onDatabase: ({ register }, by) =>
      inParts((part) => {
        const entries = part.map(({ beneficiary }) => beneficiary);
        return register.change(name, { list, add: [], remove: [], [direction]: entries }, by);
      }),
    throughProxy: () =>
      inParts(async (part) => {
        const path = `/v1/clients/${encodeURIComponent(name)}/beneficiaries`;
        const body = { list, [direction]: part.map(({ text }) => text), reason };
        return (await callClientApi(options, { path, body })) as RegisterChangeResult | WaitingDto;
      }),
  });
}

function requireList(list: string): void {
  if (!REGISTER_LISTS.some((name) => name === list)) {
    throw new ClientError(`--list must be one of ${REGISTER_LISTS.join(', ')}.`);
  }
}

/** @throws ClientError with the positions of invalid texts, which may be contacts of people. */
async function readAll(list: string): Promise<ParsedRecipient[]> {
  const texts = list.split(/[,\n]/).filter((text) => text.trim() !== '');
  if (texts.length === 0) throw new ClientError('--recipients must name at least one recipient.');
  const { BENEFICIARY_MUST, readBeneficiary } =
    await import('../../http/validation/rules/beneficiary-text.js');
  const rows = texts.map((text) => ({ text, beneficiary: readBeneficiary(text) }));
  const wrong = rows.flatMap(({ beneficiary }, index) => (beneficiary ? [] : [index + 1]));
  if (wrong.length > 0)
    throw new ClientError(`--recipients: number ${wrong.join(', ')} ${BENEFICIARY_MUST}.`);
  return rows.filter((row): row is ParsedRecipient => row.beneficiary !== undefined);
}
