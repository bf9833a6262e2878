import { Command } from 'commander';
import { mergePeople, NamedMerge } from '../access/people/merges';
import { ActivityJournal } from '../journal/activity';
import { askClients, governed, GOVERNED_HELP, GovernedOptions, makeChange } from './governed';
import { print } from './output';

export function mergePeopleCommand(): Command {
  const command = new Command('merge')
    .description('record that two people are one human, who cannot request as one and decide as the other')
    .requiredOption('--kept <person>', 'name of the owner of keys, or ID of a person of a client')
    .requiredOption('--merged <person>', 'name or ID of the same human');
  return governed(command)
    .option('--json', 'print JSON: both people, or {"status","change_id","expires_at"} if the change waits')
    .addHelpText(
      'after',
      `
What both spend at one client counts together. Limits and calls stay with each of them. A merge cannot be undone.
${GOVERNED_HELP}

Examples:
  npm run cli -- clients persons merge --kept ada --merged ada.lovelace --reason 'renamed at the provider'
  npm run cli -- clients persons merge --kept ada --merged 01a21bf9-e7ea-7102-8550-53543fe6bd82`,
    )
    .action(merge);
}

async function merge(options: GovernedOptions & NamedMerge): Promise<void> {
  const { kept, merged, reason, json } = options;
  await makeChange(options, {
    onDatabase: async ({ prisma }, by) =>
      print(await mergePeople(prisma, new ActivityJournal(), { kept, merged }, by), json),
    throughProxy: async () =>
      print(await askClients(options, { path: '/v1/person-merges', body: { kept, merged, reason } }), json),
  });
}
