import {
  OPERATION_NAMES,
  OperationName,
  reachesOnlyOwn,
  rowOf,
  scopesOf,
  sourceOf,
} from './catalogue/catalogue';
import { OperationRow } from './catalogue/row';
import { itemFieldsOf } from './items/items';

/** Writes docs/reference/operations.md, the catalogue as a page. */
export function operationsPage(): string {
  return [
    '# Operations',
    '<!-- Written by `npm run docs` from the code. Do not edit. -->',
    'The operations of the interface, under `/api/v0.1`. A **pay** operation takes value from a wallet and ' +
      'counts against caps. A **write** operation creates, changes or removes something. A **read** ' +
      'operation changes nothing. The interface document describes the documented operations. The observed ' +
      'operations are what public clients of such a service showed: confirm them with the provider.',
    ...section('Documented operations', 'documented'),
    ...section('Observed operations', 'observed'),
    '## Items',
    'An item is one payout, link, transfer or change of a call. Records, limits and searches know its ' +
      'recorded fields by the names in parentheses. If the caller leaves the field in the last column ' +
      'empty or out, the proxy writes an ID into it: the ID of the payout into a field of each item, and ' +
      'the ID of the call into others. Our records have it as the `reference` of the item.',
    itemsTable(),
    '## Calls in doubt and reconciliation',
    "If the answer of a call is lost, the proxy looks for the call's transactions in the upstream's " +
      'listing. Reconciliation compares the same transactions. A person settles a call in doubt that ' +
      'leaves no transaction.',
    transactionsTable(),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

function section(title: string, source: ReturnType<typeof sourceOf>): string[] {
  const rows = OPERATION_NAMES.filter((name) => sourceOf(name) === source).map((name) => {
    const row = rowOf(name);
    return [
      code(name),
      row.title,
      row.effect,
      scopesOf(name).map(code).join(', '),
      code(row.deadline),
      notesOn(name),
    ];
  });
  return [
    `## ${title}`,
    table(['operation', 'what it does', 'effect', 'scopes', 'deadline class', 'notes'], rows),
  ];
}

function notesOn(name: OperationName): string {
  const row = rowOf(name);
  const own = reachesOnlyOwn(name) ? ['Only what your client made, without the scope `account`.'] : [];
  if (row.effect === 'read') return [...own, ...(row.cached ? ['Answers are cached.'] : [])].join(' ');
  const coverage = row.coverage === 'none' ? [] : [`Destinations are checked with ${code(row.coverage)}.`];
  const moves =
    row.effect === 'write' && row.moves !== 'nothing' ? ['Counts the value of the named transaction.'] : [];
  return [...own, ...coverage, ...moves].join(' ');
}

function itemsTable(): string {
  const rows = OPERATION_NAMES.flatMap((name) => {
    const items = itemFieldsOf(name);
    if (!items) return [];
    const { fields, recipient, unrecorded, ownId } = items;
    const list = items.in === 'the_body' ? 'the body' : code(items.in);
    const paid = recipient === 'nobody' ? 'nobody' : recipient.join(', else ');
    const recorded = Object.entries(fields).map(([field, given]) => `${code(given)} (${wordsOf(field)})`);
    const id = ownId === 'nowhere' ? '' : code(ownId.field);
    return [[code(name), list, paid, recorded.join(', '), unrecorded.map(code).join(', '), id]];
  });
  return table(['operation', 'items in', 'pays', 'recorded fields', 'only in the body', 'gets our ID'], rows);
}

function transactionsTable(): string {
  const rows = OPERATION_NAMES.flatMap((name) => {
    const row = rowOf(name);
    return row.effect === 'read' ? [] : [[code(name), ...transactionsOf(row.transactions)]];
  });
  return table(['operation', 'in the listing', 'type', 'compared as'], rows);
}

type Transactions = Exclude<OperationRow, { effect: 'read' }>['transactions'];

function transactionsOf(transactions: Transactions): string[] {
  if (transactions === 'none') return ['nothing', '', ''];
  if ('changes' in transactions) return [`the named transaction, ${transactions.changes}`, '', ''];
  const { name, type, class: comparedAs } = transactions.creates;
  return [`${name} transactions`, code(type), comparedAs];
}

/** Returns `networkCode` in words: `network code`. */
function wordsOf(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace(' usd', ' in US dollars');
}

function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n').replace(/ {2,}\|/g, ' |');
}

const code = (text: string) => `\`${text}\``;
