import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { optionOf } from '../../access/clients/limits/limits';
import type { MergeRequest } from '../../access/people/merges';
import { OWN_LIMIT_KEYS } from '../../access/people/person';
import type { ListedPerson } from '../../access/people/person-exceptions';
import type { PersonRef, NamedPerson } from '../../access/people/person-revocations.service';
import { maskContacts } from '../../platform/privacy/contacts';
import type { SpendingService } from '../../policy/spending.service';
import { withDualControlOptions, DUAL_CONTROL_HELP, DualControlOptions, makeChange } from '../dual-control';
import { changedByOperator } from '../operator';
import { print } from '../output';
import { callClientApi } from '../proxy-client';
import { chosenLimits, withLimitOptions } from './client-options';

interface Options extends DualControlOptions {
  client: string;
  name: string;
  issuer?: string;
}

interface PersonSpending {
  spent_today_usd: string | undefined;
  spent_this_month_usd: string | undefined;
}

const PAGE = 200;

export function personsCommand(): Command {
  return new Command('persons')
    .description("list, limit, revoke, and merge a client's people")
    .addCommand(listCommand())
    .addCommand(limitsCommand())
    .addCommand(revokePersonCommand())
    .addCommand(mergePeopleCommand());
}

function listCommand(): Command {
  return new Command('list')
    .description('list people with their own limits and their spending, newest first; contacts are masked')
    .requiredOption('--client <name>', 'client of the people')
    .option('--name <name>', 'exact name of the people')
    .option('--json', 'print JSON')
    .action(list);
}

type ListOptions = Pick<Options, 'client' | 'json'> & { name?: string };

async function list({ client, name, json }: ListOptions): Promise<void> {
  const { withServices } = await import('../database/services.js');
  await withServices(async ({ exceptions, spending }) => {
    const all: (ListedPerson & PersonSpending)[] = [];
    let page: ListedPerson[];
    do {
      page = await exceptions.list(client, { name, before: all.at(-1)?.id, limit: PAGE });
      all.push(...(await withSpending(spending, page)));
    } while (page.length === PAGE);
    print(all.map(masked), json);
  });
}

const LIMITS_HELP = `
The value default removes a limit of the person, so that the client's applies: --daily-cap default.
${DUAL_CONTROL_HELP}

Examples:
  npm run cli -- clients persons limits --client phone --name alice \\
    --issuer https://id.example.com --daily-cap 50
  npm run cli -- clients persons limits --client shop --name bob --daily-cap default --rpm 10`;

function limitsCommand(): Command {
  const command = new Command('limits')
    .description('change the limits of a person; a new person is added')
    .requiredOption('--client <name>', 'client of the person')
    .requiredOption('--name <name>', 'subject of the access tokens, or the name in X-Actor')
    .option('--issuer <url>', 'provider of the person (iss); without it, a person in X-Actor');
  return withDualControlOptions(withLimitOptions(command, OWN_LIMIT_KEYS))
    .option('--json', 'print JSON: the person, or {"status","change_id","expires_at"} if the change waits')
    .addHelpText('after', LIMITS_HELP)
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
      const { toPermissions } = await import('../../access/clients/grants.js');
      const body = { name, issuer, ...toPermissions(change), reason };
      print(await callClientApi(options, { path, body }), json);
    },
  });
}

async function withSpending(
  spending: SpendingService,
  page: ListedPerson[],
): Promise<(ListedPerson & PersonSpending)[]> {
  const spent = await spending.ofPayers(page.map(({ id }) => id));
  return page.map((person) => ({
    ...person,
    spent_today_usd: spent.get(person.id)?.today.usd.toFixed(),
    spent_this_month_usd: spent.get(person.id)?.thisMonth.usd.toFixed(),
  }));
}

function masked<Person extends ListedPerson>(person: Person): Person {
  return { ...person, name: person.name && maskContacts(person.name) };
}

const MERGE_HELP = `
The spending of both at one client counts together. Each keeps their limits and calls. A merge cannot be
undone.
${DUAL_CONTROL_HELP}

Examples:
  npm run cli -- clients persons merge --kept ada --merged ada.lovelace --reason 'renamed at the provider'
  npm run cli -- clients persons merge --kept ada --merged 01a21bf9-e7ea-7102-8550-53543fe6bd82`;

function mergePeopleCommand(): Command {
  const command = new Command('merge')
    .description('record that two people are one human, who cannot request as one and decide as the other')
    .requiredOption('--kept <person>', 'name of an owner of keys, or ID of a person of a client')
    .requiredOption('--merged <person>', 'name or ID of the same human');
  return withDualControlOptions(command)
    .option('--json', 'print JSON: both people, or {"status","change_id","expires_at"} if the change waits')
    .addHelpText('after', MERGE_HELP)
    .action(merge);
}

async function merge(options: DualControlOptions & MergeRequest): Promise<void> {
  const { kept, merged, reason, json } = options;
  await makeChange(options, {
    onDatabase: async ({ prisma, journal }, by) => {
      const { mergePeople } = await import('../../access/people/merges.js');
      print(await mergePeople(prisma, journal, { kept, merged }, by), json);
    },
    throughProxy: async () =>
      print(
        await callClientApi(options, { path: '/v1/person-merges', body: { kept, merged, reason } }),
        json,
      ),
  });
}

const NEW_PERSON =
  'This client had no person with this name from this issuer. If the person has called before, check ' +
  '--name and --issuer with clients persons list.';

interface RevokeOptions {
  client: string;
  id?: string;
  name?: string;
  issuer?: string;
  reason?: string;
  json?: boolean;
}

const REVOKE_HELP = `
Credentials from before the revocation are rejected immediately, on every instance. Later ones are accepted,
so also block the person at the identity provider. To end all tokens of a client, revoke its provider key
with keys revoke.

Examples:
  npm run cli -- clients persons revoke --client wallet --issuer https://id.example.com --name 248289761001
  npm run cli -- clients persons revoke --client wallet --id 01a21bf9-e7ea-7102-8550-53543fe6bd82 \\
    --reason 'lost phone'`;

function revokePersonCommand(): Command {
  return new Command('revoke')
    .description('end the access tokens, page sessions and ephemeral keys of a person')
    .requiredOption('--client <name>', 'client of the person')
    .option('--id <uuid>', 'ID of the person, from records or clients persons list')
    .option('--name <text>', 'instead of the ID: subject of the tokens (sub), or the name in X-Actor')
    .option('--issuer <url>', 'with --name, provider of the person (iss); without it, a person in X-Actor')
    .option('--reason <text>', 'reason for the record')
    .option('--json', 'print JSON')
    .addHelpText('after', REVOKE_HELP)
    .action(revoke);
}

async function revoke({ client, reason, json, ...options }: RevokeOptions): Promise<void> {
  const person = personIn(options);
  const { withServices } = await import('../database/services.js');
  await withServices(async ({ revocations }) => {
    const revoked = await revocations.revoke(client, person, changedByOperator(reason));
    print(revoked, json);
    if (revoked.is_new) process.stderr.write(`${NEW_PERSON}\n`);
  });
}

/** @throws ClientError unless the options name a person in one way. */
function personIn(options: Pick<RevokeOptions, 'id' | 'name' | 'issuer'>): PersonRef | NamedPerson {
  const { id, name, issuer } = options;
  if (id !== undefined && name === undefined && issuer === undefined) return { id };
  if (id === undefined && name !== undefined) return { name, issuer: issuer ?? null };
  throw new ClientError('Give either --id, or --name and, for a person of a provider, --issuer.');
}
