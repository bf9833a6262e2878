import { Command } from 'commander';
import { ClientError } from '../../access/clients/client-error';
import { MAX_REASON, STOPPABLE } from '../../admin/stops/stoppable';
import type { StopRecord } from '../../admin/stops/stops.dto';
import type { StopsService, StopTarget } from '../../admin/stops/stops.service';
import { isText } from '../../http/validation/rules/text';
import { Operator } from '../../journal/records/author';
import { withDualControlOptions, DualControlOptions, makeChange } from '../dual-control';
import { changedByOperator } from '../operator';
import { print } from '../output';
import { callClientApi, keyHelp } from '../proxy-client';

const EXAMPLES = `
Operations that can be stopped (reads always continue):
${STOPPABLE.map((name) => `  ${name}`).join('\n')}

Examples:
  npm run cli -- stop everything --reason "the provider pays twice"
  npm run cli -- stop client shop --reason "its key has leaked"
  npm run cli -- stop operation "POST /payouts/airtime" --reason "wrong rates since noon"
  npm run cli -- stop list
  npm run cli -- stop lift 01a1fc4c-d86a-751d-baa6-e9463876b80c`;

interface StopOptions {
  reason: string;
  json?: boolean;
}

interface LiftOptions extends DualControlOptions {
  unreconciled?: boolean;
}

const LIFT_HELP = `
With dual control (DUAL_CONTROL), a person can lift their own stop alone within ten minutes. Every other lift
waits for a second person. The command then calls the running proxy with a personal key of an administrator.
${keyHelp('admin')}
In an emergency, --emergency lifts the stop on the database without a second person. Its record says so.

Examples:
  npm run cli -- stop lift 01a1fc4c-d86a-751d-baa6-e9463876b80c
  npm run cli -- stop lift 01a1fc4c-d86a-751d-baa6-e9463876b80c --key-file ada.key --reason "key replaced"`;

export function stopCommands(): Command {
  const stop = new Command('stop')
    .description('stop payments and writes on every instance, and lift stops')
    .addHelpText('after', EXAMPLES);
  withStopOptions(stop.command('everything').description('stop all operations of all clients')).action(
    (options: StopOptions) => addStop({}, options),
  );
  withStopOptions(stop.command('client <name>').description('stop one client')).action(
    (client: string, options: StopOptions) => addStop({ client }, options),
  );
  withStopOptions(stop.command('operation <name>').description('stop one operation of all clients')).action(
    (operation: string, options: StopOptions) => addStop({ operation }, options),
  );
  stop
    .command('list')
    .description('list active stops')
    .option('--all', 'include lifted stops')
    .option('--json', 'print JSON')
    .action(({ all = false, json }: { all?: boolean; json?: boolean }) =>
      withStops(async (stops) => {
        const listed = await stops.list(all);
        print(json ? listed : listed.map(forPeople), json);
      }),
    );
  withDualControlOptions(stop.command('lift <id>'))
    .description('lift a stop, by its ID from stop list')
    .option('--unreconciled', "lift it before the upstream's list of a recovery gap was read")
    .option('--json', 'print JSON: the stop, or {"status","change_id","expires_at"} if the lift waits')
    .addHelpText('after', LIFT_HELP)
    .action(lift);
  return stop;
}

function withStopOptions(command: Command): Command {
  return command
    .requiredOption('--reason <text>', 'reason, which refused clients read')
    .option('--json', 'print the stop as JSON, with "added": false if it already existed')
    .addHelpText('after', EXAMPLES);
}

async function lift(id: string, options: LiftOptions): Promise<void> {
  const { json, unreconciled = false, reason } = options;
  await makeChange(options, {
    onDatabase: async ({ stops }, by) => {
      const lifted = await stops.lift(id, by, unreconciled);
      if (!lifted)
        throw new ClientError(`No active stop has the ID ${id}. Run stop list to see active stops.`);
      print(json ? lifted : forPeople(lifted), json);
    },
    throughProxy: async () => {
      const query = new URLSearchParams({
        ...(unreconciled && { unreconciled: 'true' }),
        ...(reason !== undefined && { reason }),
      });
      const path = `/v1/stops/${encodeURIComponent(id)}?${query.toString()}`;
      const answer = await callClientApi(options, { path, method: 'DELETE' });
      print(json || 'change_id' in answer ? answer : forPeople(answer as StopRecord), json);
    },
  });
}

async function addStop(target: StopTarget, { reason, json }: StopOptions): Promise<void> {
  const { operation } = target;
  if (operation !== undefined && !STOPPABLE.includes(operation)) {
    throw new ClientError(
      `The operation ${operation} cannot be stopped. Give one of these: ${STOPPABLE.join(', ')}.`,
    );
  }
  if (reason.trim() === '' || !isText(reason, MAX_REASON)) {
    throw new ClientError(
      `--reason must be text of 1 to ${MAX_REASON} characters, without control characters.`,
    );
  }
  await withStops(async (stops) => {
    const stopped = await stops.stop(target, reason, operator());
    if (!stopped)
      throw new ClientError(`No client is named ${target.client}. Run clients list to see all clients.`);
    if (!stopped.added && !json) process.stdout.write('Already stopped. Nothing was changed.\n');
    print(json ? { ...stopped.stop, added: stopped.added } : forPeople(stopped.stop), json);
  });
}

function operator(): Operator {
  return { clientId: null, keyId: null, actor: changedByOperator(undefined).actor };
}

async function withStops(work: (stops: StopsService) => Promise<void>): Promise<void> {
  const { withServices } = await import('../database/services.js');
  await withServices(({ stops }) => work(stops));
}

function forPeople(stop: StopRecord) {
  const { id, everything, client, operation, reason, cause, stopped_at, stopped_by, lifted_at } = stop;
  return {
    id,
    stops: everything ? 'everything' : client !== null ? `client ${client}` : operation,
    reason,
    stopped_at,
    stopped_by: stopped_by?.actor ?? stopped_by?.client ?? (cause === null ? 'command line' : 'proxy'),
    lifted_at,
  };
}
