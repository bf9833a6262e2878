import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { LIMIT_FIELDS, readUsd } from '../access/clients/limit-fields';
import { toDocument, OwnLimits } from '../access/people/person-exceptions';
import { ListedPerson } from '../access/people/person-exceptions.service';
import { PrismaService } from '../platform/database/prisma.service';
import { maskContacts } from '../platform/privacy/contacts';
import { SpendingService } from '../policy/spending.service';
import { clientServices, withPrisma } from './database';
import { askClients, governed, GOVERNED_HELP, GovernedOptions, makeChange } from './governed';
import { print } from './output';
import { revokePersonCommand } from './revoke-person';

interface Options extends GovernedOptions {
  client: string;
  name: string;
  issuer?: string;
  dailyCap?: string;
  monthlyCap?: string;
  maxItem?: string;
  rpm?: string;
}

interface Spent {
  spent_today_usd: string | undefined;
  spent_this_month_usd: string | undefined;
}

const DEFAULT = 'default';
const PAGE = 200;

export function personsCommand(): Command {
  return new Command('persons')
    .description("list a client's people, give some of them limits of their own, and end their credentials")
    .addCommand(listCommand())
    .addCommand(limitsCommand())
    .addCommand(revokePersonCommand());
}

function listCommand(): Command {
  return new Command('list')
    .description('list people with their own limits and their spending, newest first; contacts are masked')
    .requiredOption('--client <name>', 'client of the people')
    .option('--name <name>', 'only people with exactly this name')
    .option('--json', 'for machines')
    .action(({ client, name, json }: Pick<Options, 'client' | 'json'> & { name?: string }) =>
      withPrisma(async (prisma) => {
        const { exceptions } = clientServices(prisma);
        const all: (ListedPerson & Spent)[] = [];
        let page: ListedPerson[];
        do {
          page = await exceptions.list(client, { name, before: all.at(-1)?.id, limit: PAGE });
          all.push(...(await withSpending(prisma, page)));
        } while (page.length === PAGE);
        print(all.map(masked), json);
      }),
    );
}

function limitsCommand(): Command {
  const command = new Command('limits')
    .description('change the limits of a person, who is added if nobody has seen the person yet')
    .requiredOption('--client <name>', 'client of the person')
    .requiredOption('--name <name>', 'subject of the access tokens, or the name that the app uses')
    .option('--issuer <url>', 'provider of the person (iss); without it, the app names the person')
    .option('--daily-cap <usd>', 'daily cap of the person in USD')
    .option('--monthly-cap <usd>', 'monthly cap of the person in USD')
    .option('--max-item <usd>', 'largest amount of one item of the person in USD')
    .option('--rpm <count>', 'requests of the person per minute');
  return governed(command)
    .option('--json', 'print JSON: the person, or {"status","change_id","expires_at"} if the change waits')
    .addHelpText(
      'after',
      `
The value default removes a limit of the person, so that the client's applies: --daily-cap default.
${GOVERNED_HELP}

Examples:
  npm run cli -- clients persons limits --client phone --name alice --issuer https://id.example.com --daily-cap 50
  npm run cli -- clients persons limits --client shop --name bob --daily-cap default --rpm 10`,
    )
    .action(limit);
}

async function limit(options: Options): Promise<void> {
  const { client, name, issuer, reason, json } = options;
  const change = chosenLimits(options);
  await makeChange(options, {
    onDatabase: async ({ exceptions }, by) => {
      const id = await exceptions.add(client, { name, issuer: issuer ?? null }, by);
      await exceptions.limit(client, id, change, by);
      print(masked(await exceptions.one(client, id)), json);
    },
    throughProxy: async () => {
      const path = `/v1/clients/${encodeURIComponent(client)}/persons`;
      const body = { name, issuer, ...toDocument(change), reason };
      print(await askClients(options, { path, body }), json);
    },
  });
}

/** @throws ClientError that names the option. */
function chosenLimits({ dailyCap, monthlyCap, maxItem, rpm }: Options): Partial<OwnLimits> {
  const given = [
    ['dailyCapUsd', '--daily-cap', dailyCap, readUsd],
    ['monthlyCapUsd', '--monthly-cap', monthlyCap, readUsd],
    ['maxItemUsd', '--max-item', maxItem, readUsd],
    ['requestsPerMinute', '--rpm', rpm, Number],
  ] as const;
  const named = given.filter(([, , text]) => text !== undefined);
  if (named.length === 0)
    throw new ClientError(`Give at least one of ${given.map(([, option]) => option).join(', ')}.`);
  const wrong = named.filter(([key, , text, read]) => text !== DEFAULT && !LIMIT_FIELDS[key].test(read(text)));
  if (wrong.length > 0) {
    throw new ClientError(wrong.map(([key, option]) => `${option} ${LIMIT_FIELDS[key].must}, or default.`).join(' '));
  }
  return Object.fromEntries(named.map(([key, , text, read]) => [key, text === DEFAULT ? null : read(text)]));
}

async function withSpending(prisma: PrismaService, page: ListedPerson[]): Promise<(ListedPerson & Spent)[]> {
  const spent = await new SpendingService(prisma).ofPayers(page.map(({ id }) => id));
  return page.map((person) => ({
    ...person,
    spent_today_usd: spent.get(person.id)?.today.usd.toFixed(),
    spent_this_month_usd: spent.get(person.id)?.thisMonth.usd.toFixed(),
  }));
}

function masked<Person extends ListedPerson>(person: Person): Person {
  return { ...person, name: person.name && maskContacts(person.name) };
}
