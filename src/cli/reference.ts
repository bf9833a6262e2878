import { getMetadataStorage } from 'class-validator';
import { Command } from 'commander';
import { Route } from '../app/routes';
import { Scope, SCOPES } from '../operations/catalogue/scopes';
import { operationsPage } from '../operations/reference';
import { Environment } from '../platform/config/environment/environment';
import { SECTIONS } from '../platform/config/environment/variable';
import { VARIABLES } from '../platform/config/environment/variables';
import { fileVariableOf, SECRET_NAMES } from '../platform/config/secrets/secret-files';
import { ACTION_MEANINGS } from '../platform/errors/kinds';
import { ProblemCode, PROBLEMS } from '../platform/errors/problems';
import { FOR_READS } from '../platform/errors/reads';

/**
 * Returns the pages of docs/reference that come from the code, by path. `npm run docs` writes them, and a
 * test compares them with the committed files.
 */
export function referencePages(program: Command, routes: Route[]): Record<string, string> {
  return {
    'docs/reference/configuration.md': configurationPage(),
    'docs/reference/errors.md': errorsPage(),
    'docs/reference/commands.md': commandsPage(program),
    'docs/reference/operations.md': operationsPage(),
    'docs/reference/permissions.md': permissionsPage(routes),
  };
}

function configurationPage(): string {
  const defaults = new Environment();
  const names = Object.keys(VARIABLES) as (keyof Environment)[];
  const sections = Object.entries(SECTIONS).map(([section, title]) => {
    const rows = names
      .filter((name) => VARIABLES[name].section === section)
      .map((name) => {
        const { about, unset } = VARIABLES[name];
        const initial = unset ?? code((defaults[name] as string | number).toString());
        return [code(name), initial, valuesOf(name), about];
      });
    return `## ${title}\n\n${table(['variable', 'default', 'values', 'meaning'], rows)}`;
  });
  return page('Configuration', [
    'Set these variables in the environment, or in a file `.env` in the working directory. The ' +
      'environment overrides the file. `.env.example` lists them. An invalid value ends the start with ' +
      'exit code 1 and one line that names the variable. It never shows the value.',
    'Node.js, Docker and systemd read some values of a `.env` file in different ways. A start refuses ' +
      'them. Put a value with `#`, `$`, `\\` or quotes in single quotes, and a comment on a line of its ' +
      'own. `docker run --env-file` keeps quotes. Give it such values with `--env`, or in a file ' +
      '(`<name>_FILE`).',
    `Each secret can be in a file instead. Set ${code(fileVariableOf('<name>'))} to its path, for ` +
      `${SECRET_NAMES.map(code).join(', ')}. See [Secrets in files](../operate/deploy.md#secrets-in-files).`,
    ...sections,
  ]);
}

/** Returns the values that a variable accepts, if a table can show them. */
function valuesOf(name: string): string {
  const rules = getMetadataStorage()
    .getTargetValidationMetadatas(Environment, '', true, false)
    .filter(({ propertyName }) => propertyName === name);
  const rule = (key: string) => rules.find((found) => found.name === key)?.constraints?.[0] as unknown;
  const words = rule('isIn');
  if (Array.isArray(words)) return words.map((word) => code(String(word))).join(', ');
  if (rule('min') !== undefined) return `${digits(rule('min'))} to ${digits(rule('max'))}`;
  if (rules.some(({ name: own }) => own === 'isDatabaseUrl')) return 'URL: `postgres://`, `postgresql://`';
  const url = rule('isUrl') as { protocols?: string[] } | undefined;
  return url?.protocols ? `URL: ${url.protocols.map((protocol) => code(`${protocol}://`)).join(', ')}` : '';
}

const digits = (value: unknown) => Number(value).toLocaleString('en');

function errorsPage(): string {
  const kinds = Object.entries(PROBLEMS).sort(([, a], [, b]) => a.status - b.status);
  const rows = kinds.map(([name, { status, action, text, retryAfter }]) => [
    `${status}`,
    code(name),
    code(action),
    retryAfter === undefined ? '' : `${retryAfter}`,
    text,
  ]);
  const reads = Object.entries(FOR_READS).map(([name, { text, action }]) => [
    code(name),
    code(action ?? PROBLEMS[name as ProblemCode].action),
    text,
  ]);
  return page('Error codes', [
    'Every error of the proxy has `code`, `error`, `call_id` and `action`. Below `/api/` it uses the ' +
      "interface's envelope. Elsewhere it is a problem document (RFC 9457) with the same members. `error` " +
      'says what happened and what to do. `errors` lists the first 100 faults of a request, and ' +
      '`errors_total` is their number. Errors of the upstream pass through unchanged and have none of ' +
      'these members.',
    'Programs should act on `action`, so they need no table of codes:',
    table(
      ['action', 'what a client does'],
      Object.entries(ACTION_MEANINGS).map(([action, meaning]) => [code(action), meaning]),
    ),
    'An answer can name another action than its code. For example, `database_unavailable` of a change ' +
      'outside the interface says `wait`, because the change may have been made.',
    '## Codes\n\n`Retry-After` is in seconds. An answer can give a more exact text or another `Retry-After`.',
    table(['status', 'code', 'action', 'Retry-After', 'text'], rows),
    '## Codes of reads\n\nA read changes nothing and has no idempotency key. These codes have another text ' +
      'for reads, and some have another action.',
    table(['code', 'action', 'text'], reads),
  ]);
}

function commandsPage(program: Command): string {
  const rows = leavesOf(program, '').map(([name, description]) => [code(name), description]);
  return page('Commands', [
    'Run a command with `npm run cli -- <command>`. Each has `--help`. Most have `--json`, which prints ' +
      'one line of JSON. Use `npm run -s cli` with it, because npm prints lines of its own. A command that ' +
      'fails prints the error to standard error and ends with exit code 1.',
    table(['command', 'effect'], rows),
  ]);
}

function permissionsPage(routes: Route[]): string {
  const rows = routes.map((route) => [
    code(`${route.method} /${route.path}`),
    ...SCOPES.map((scope) => needOf(scope, route)),
    route.reaches,
    route.isRecorded ? 'yes' : '',
  ]);
  return page('Permissions', [
    'Scopes that each route requires, and the objects that it reaches. A key without the scopes of a route ' +
      'gets 403 `scope_missing`, with any request. An object out of reach looks like an unknown one.',
    [
      '- **yes**: this scope is enough. **and**: the key needs all scopes of the row. **open**: no key.',
      "- **own**: the calls and objects of the key's client, or only those of its person. " +
        '**all**: those of all clients. With the scope `account`, operations of the interface reach all.',
      '- **recorded**: the reading is recorded before the answer leaves. ' +
        'People are masked unless the key has `audit:pii`.',
    ].join('\n'),
    table(['route', ...SCOPES, 'reaches', 'recorded'], rows),
  ]);
}

function needOf(scope: Scope, { scopes, needsAll }: Route): string {
  if (scopes.includes('everyone')) return 'open';
  if (!scopes.includes(scope)) return '';
  return needsAll && scopes.length > 1 ? 'and' : 'yes';
}

/** Returns each command with an action: its words and arguments, and its description. */
function leavesOf(command: Command, prefix: string): [string, string][] {
  return command
    .createHelp()
    .visibleCommands(command)
    .flatMap((child): [string, string][] => {
      if (child.name() === 'help') return [];
      const name = `${prefix}${child.name()}`;
      const below = leavesOf(child, `${name} `);
      const words = child.registeredArguments.map((argument) =>
        argument.required ? `<${argument.name()}>` : `[${argument.name()}]`,
      );
      // A command with subcommands has an action of its own only if it has arguments or options.
      if (below.length > 0 && words.length === 0 && child.options.length === 0) return below;
      return [[[name, ...words].join(' '), child.description()], ...below];
    });
}

const WARNING = '<!-- Written by `npm run docs` from the code. Do not edit. -->';

function page(title: string, parts: string[]): string {
  return `${[`# ${title}`, WARNING, ...parts].join('\n\n')}\n`;
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n').replace(/ {2,}\|/g, ' |');
}

const code = (text: string) => (text === '' ? '' : `\`${text}\``);
