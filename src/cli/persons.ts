import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { optionOf } from '../access/clients/limits';
import { toPermissions } from '../access/clients/grants';
import { OWN_LIMIT_KEYS } from '../access/people/person';
import { ListedPerson } from '../access/people/person-exceptions';
import { PrismaService } from '../platform/database/prisma.service';
import { maskContacts } from '../platform/privacy/contacts';
import { SpendingService } from '../policy/spending.service';
import { clientServices, withPrisma } from './database';
import { askClients, governed, GOVERNED_HELP, GovernedOptions, makeChange } from './governed';
import { chosenLimits, withLimitOptions } from './limits';
import { mergePeopleCommand } from './merge-people';
import { print } from './output';
import { revokePersonCommand } from './revoke-person';

interface Options extends GovernedOptions {
  client: string;
  name: string;
  issuer?: string;
}

interface Spent {
  spent_today_usd: string | undefined;
  spent_this_month_usd: string | undefined;
}

const PAGE = 200;

export function personsCommand(): Command {
  return new Command('persons')
    .description("list a client's people, give them limits of their own, end their credentials, and merge people")
    .addCommand(listCommand())
    .addCommand(limitsCommand())
    .addCommand(revokePersonCommand())
    .addCommand(mergePeopleCommand());
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
    .option('--issuer <url>', 'provider of the person (iss); without it, the app names the person');
  return governed(withLimitOptions(command, OWN_LIMIT_KEYS))
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
  const change = chosenLimits(options, OWN_LIMIT_KEYS, 'default');
  if (Object.keys(change).length === 0)
    throw new ClientError(`Give at least one of ${OWN_LIMIT_KEYS.map(optionOf).join(', ')}.`);
  await makeChange(options, {
    onDatabase: async ({ exceptions }, by) => {
      const id = await exceptions.add(client, { name, issuer: issuer ?? null }, by);
      await exceptions.limit(client, id, change, by);
      print(masked(await exceptions.one(client, id)), json);
    },
    throughProxy: async () => {
      const path = `/v1/clients/${encodeURIComponent(client)}/persons`;
      const body = { name, issuer, ...toPermissions(change), reason };
      print(await askClients(options, { path, body }), json);
    },
  });
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
