import { OpenAPIObject } from '@nestjs/swagger';
import { HEADERS_CHAPTER } from './openapi-headers';
import { CREDENTIALS, scopesText, securityOf } from './openapi-security';
import { Route } from './routes';

/** The groups of routes (`@ApiTags`), in the order of the documents. */
const DESCRIPTIONS = {
  Send: 'Sends credits to recipients by email or handle.',
  Payouts: 'Pays recipients, and reads the state of each payout.',
  Account: "Reads and cancels the account's transactions, and pays sub-accounts.",
  Wallets: 'Reads wallets, and moves amounts between them.',
  'Sub-accounts': 'Creates and reads sub-accounts of the upstream account.',
  Info: 'Lists assets, countries, networks, and exchange rates.',
  Collections: 'Charges a mobile money wallet.',
  Redeem: 'Redeems a payment to a phone.',
  Preview:
    'Shows what would happen if you sent the request of an operation now. The preview of an invalid ' +
    'body lists all its errors.',
  Calls: 'Reads calls with their outcomes and receipts, and settles calls in doubt.',
  Limits: 'Reads the limits of your client, and how much of them is left.',
  'Ephemeral keys': 'Issues short-lived keys for one person, and revokes them.',
  'Page sessions': 'Reads and ends the session of a person on a page of your client.',
  Overview: 'Summarizes what needs attention.',
  Approvals: 'Decides about held calls.',
  Stops: 'Stops operations, and lifts stops.',
  Fees: 'Lists the expected fees of the upstream, and forgets learned ones.',
  Clients: 'Manages clients with their keys, limits, people, and recipients, and decides about changes.',
  Reconciliation:
    "Compares the records with the upstream's transactions or a statement, and decides about differences.",
  Audit: 'Searches, sums, and exports the history of all clients.',
  Log: 'Proves that the history is complete and unchanged.',
  Console: 'Signs people in to the console, and out again.',
  Sandbox: 'Sets how the embedded sandbox behaves. It does not exist in production.',
  Health: 'Reports liveness, readiness, and metrics.',
};

const TAGS = Object.entries(DESCRIPTIONS).map(([name, description]) => ({ name, description }));

const ERRORS =
  "Errors name the next step. Below `/api/v0.1` they have the interface's envelope, elsewhere they are RFC " +
  '9457 problem details.';

/** The readers of the API. Each has a document with the routes that it may call. */
export const AUDIENCES = {
  apps: {
    /** The address that serves the document, and its file in the repository. */
    file: 'openapi.json',
    title: 'payout-proxy',
    description: `The upstream's interface under \`/api/v0.1\`, made safe. Requests and answers are the same,
with a key of this proxy, and every call is recorded. \`/v1\` previews payouts, and reads your own calls,
payouts and limits.

Send a new \`Idempotency-Key\` with each payment or write, and the same key when you retry it. The request is
then carried out once.`,
  },
  staff: {
    file: 'openapi.staff.json',
    title: 'payout-proxy for operators and auditors',
    description: `Reads, exports and proves the history of all clients, reconciles it with the upstream,
manages clients, decides about held calls, stops operations, and settles calls in doubt.`,
  },
} as const;

export type Audience = keyof typeof AUDIENCES;

type Tags = NonNullable<OpenAPIObject['tags']>;
type Components = NonNullable<OpenAPIObject['components']>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Returns the part of the whole document that an audience needs: its routes, and what they refer to. */
export function documentFor(audience: Audience, whole: OpenAPIObject, routes: Route[]): OpenAPIObject {
  const { title, description } = AUDIENCES[audience];
  const theirs = new Map(
    routes
      .filter(({ isForApps }) => isForApps === (audience === 'apps'))
      .map((route) => [addressOf(route), route]),
  );
  const paths = Object.entries(whole.paths).flatMap(([path, item]) => {
    const { others, operations } = split(item as Record<string, { description?: string }>);
    const kept = operations.flatMap(([method, operation]) => {
      const route = theirs.get(`${method} ${path}`);
      if (!route) return [];
      const description = [scopesText(route), operation.description].join(' ').trim();
      return [[method, { ...operation, description, security: securityOf(route) }] as const];
    });
    return kept.length > 0 ? [[path, { ...others, ...Object.fromEntries(kept) }] as const] : [];
  });
  const part = {
    ...whole,
    info: {
      title,
      description: [description, ERRORS, HEADERS_CHAPTER].join('\n\n'),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      contact: { name: 'The operator of this proxy' },
      version: whole.info.version,
    },
    servers: [{ url: '/', description: 'The proxy that serves this document.' }],
    paths: Object.fromEntries(paths),
  };
  return { ...part, tags: usedTags(part), components: usedComponents(part) };
}

/** `get /v1/calls/{id}` */
function addressOf({ method, path }: Route): string {
  return `${method.toLowerCase()} /${path.replace(/:(\w+)/g, '{$1}')}`;
}

function split(item: Record<string, { description?: string }>) {
  const isOperation = (name: string) => (METHODS as readonly string[]).includes(name);
  const entries = Object.entries(item);
  return {
    others: Object.fromEntries(entries.filter(([name]) => !isOperation(name))),
    operations: entries.filter(([name]) => isOperation(name)),
  };
}

function usedTags({ paths }: OpenAPIObject): Tags {
  const used = new Set(
    Object.values(paths).flatMap((item) => METHODS.flatMap((method) => item[method]?.tags ?? [])),
  );
  return TAGS.filter(({ name }) => used.has(name));
}

/** Returns the components that the rest of the document refers to, and those that they refer to. */
function usedComponents({ components = {}, ...rest }: OpenAPIObject): Components {
  const all = components as Record<string, Record<string, object>>;
  const used = new Set<string>();
  const pending: object[] = [rest];
  for (const part of pending) {
    for (const [, section = '', name = ''] of JSON.stringify(part).matchAll(
      /"#\/components\/([^/"]+)\/([^/"]+)"/g,
    )) {
      const component = all[section]?.[name];
      if (!component || used.has(`${section}/${name}`)) continue;
      used.add(`${section}/${name}`);
      pending.push(component);
    }
  }
  const sections = Object.entries(all).map(([section, parts]) => [
    section,
    Object.fromEntries(Object.entries(parts).filter(([name]) => used.has(`${section}/${name}`))),
  ]);
  return { securitySchemes: usedCredentials(rest), ...Object.fromEntries(sections) } as Components;
}

function usedCredentials({ paths }: Pick<OpenAPIObject, 'paths'>): object {
  const requirements = Object.values(paths).flatMap((item) =>
    METHODS.flatMap((method) => item[method]?.security ?? []),
  );
  const used = new Set(requirements.flatMap((requirement) => Object.keys(requirement)));
  return Object.fromEntries(Object.entries(CREDENTIALS).filter(([name]) => used.has(name)));
}
