import { Command } from 'commander';
import { ClientError } from '../access/clients/client-error';
import { KnownPerson, NamedPerson, PersonRevocationsService } from '../access/people/person-revocations.service';
import { ActivityJournal } from '../journal/activity';
import { changedByOperator } from './changed-by';
import { withPrisma } from './database';
import { print } from './output';

const NEW =
  'Nobody of this client had this name from this issuer. If you mean somebody who has called, check --name and --issuer with ' +
  'clients persons list.';

interface RevokeOptions {
  client: string;
  id?: string;
  name?: string;
  issuer?: string;
  reason?: string;
  json?: boolean;
}

export function revokePersonCommand(): Command {
  return new Command('revoke')
    .description('end the access tokens, page sessions and ephemeral keys of a person')
    .requiredOption('--client <name>', 'client of the person')
    .option('--id <uuid>', 'ID of the person, as records and clients persons list have it')
    .option('--name <text>', 'instead of the ID: subject of the tokens (sub), or the name that the app uses')
    .option(
      '--issuer <url>',
      'with --name, provider of the person (iss). Without it: a person whom the app names itself',
    )
    .option('--reason <text>', 'reason, which is recorded')
    .option('--json', 'for machines')
    .addHelpText(
      'after',
      `
Credentials that were issued before are rejected immediately, on every instance. Those issued later are accepted, so block the
person at the identity provider, too. To end all tokens of a client, revoke its provider key with keys revoke.

Examples:
  npm run cli -- clients persons revoke --client wallet --issuer https://id.example.com --name 248289761001
  npm run cli -- clients persons revoke --client wallet --id 01a21bf9-e7ea-7102-8550-53543fe6bd82 --reason 'lost phone'`,
    )
    .action(revoke);
}

function revoke({ client, reason, json, ...options }: RevokeOptions): Promise<void> {
  const person = personIn(options);
  return withPrisma(async (prisma) => {
    const revocations = new PersonRevocationsService(prisma, new ActivityJournal());
    const revoked = await revocations.revoke(client, person, changedByOperator(reason));
    print(revoked, json);
    if (revoked.is_new) process.stderr.write(`${NEW}\n`);
  });
}

/** @throws ClientError unless the options name a person in one way. */
function personIn({ id, name, issuer }: Pick<RevokeOptions, 'id' | 'name' | 'issuer'>): KnownPerson | NamedPerson {
  if (id !== undefined && name === undefined && issuer === undefined) return { id };
  if (id === undefined && name !== undefined) return { name, issuer: issuer ?? null };
  throw new ClientError('Name the person either by --id, or by --name and, for a person of a provider, --issuer.');
}
