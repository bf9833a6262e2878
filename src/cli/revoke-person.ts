import { Command } from 'commander';
import { PersonRevocationsService } from '../access/people/person-revocations.service';
import { ActivityJournal } from '../journal/activity';
import { changedByOperator } from './changed-by';
import { withPrisma } from './database';
import { print } from './output';

interface RevokeOptions {
  client: string;
  name: string;
  issuer?: string;
  reason?: string;
  json?: boolean;
}

export function revokePersonCommand(): Command {
  return new Command('revoke')
    .description('end the access tokens, page sessions and ephemeral keys of a person')
    .requiredOption('--client <name>', 'client of the person')
    .requiredOption('--name <text>', 'subject of the tokens (sub), or the name that the app uses')
    .option('--issuer <url>', 'provider of the person (iss). Without it: a person whom the app names itself')
    .option('--reason <text>', 'reason, which is recorded')
    .option('--json', 'for machines')
    .addHelpText(
      'after',
      `
Credentials that were issued before are rejected immediately, on every instance. Those issued later are accepted, so block the
person at the identity provider, too. To end all tokens of a client, revoke its provider key with keys revoke.

Examples:
  npm run cli -- clients persons revoke --client wallet --issuer https://id.example.com --name 248289761001`,
    )
    .action(revoke);
}

function revoke({ client, name, issuer, reason, json }: RevokeOptions): Promise<void> {
  return withPrisma(async (prisma) => {
    const revocations = new PersonRevocationsService(prisma, new ActivityJournal());
    print(await revocations.revoke(client, { name, issuer: issuer ?? null }, changedByOperator(reason)), json);
  });
}
