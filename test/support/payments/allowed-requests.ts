import { ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Decimal } from 'decimal.js';
import { sourceProblem } from '../../../src/access/auth/authenticate';
import { maySeePeople, OperationCall } from '../../../src/access/auth/call';
import { limitRate } from '../../../src/access/auth/rate-limit';
import { Allow, AllowGuard } from '../../../src/access/auth/route-access';
import { Caller } from '../../../src/access/callers/caller';
import { Grants } from '../../../src/access/clients/grants';
import { admissionRequest } from '../../../src/gateway/forwarding/admission-request';
import { limitProblems } from '../../../src/gateway/forwarding/ownership/own-limits';
import { paymentsTo } from '../../../src/journal/admission/content-keys';
import { recipientsOf } from '../../../src/journal/admission/recipients';
import { OPERATION_NAMES, OperationName, scopesOf } from '../../../src/operations/catalogue/catalogue';
import { Scope } from '../../../src/operations/catalogue/scopes';
import { decide } from '../../../src/policy/decide';
import { Register } from '../../../src/policy/limits/beneficiaries';
import { PayerCaps } from '../../../src/policy/limits/caps';
import { limitsOfRequest } from '../../../src/policy/limits/limit-rules';
import { paymentKey, RecipientDays } from '../../../src/policy/limits/recipient-days';
import { budget, OFF, payment, state } from './admission-requests';

/** A request, and the earlier payments. */
export interface Asked {
  /** The operation of the interface, or the scopes of which a /v1 route requires one. */
  opens: OperationName | Scope[];
  address: string;
  /** The page that sends an access token. Undefined for a server with a key. */
  origin: string | undefined;
  usd: string;
  items: number;
  country: string;
  /** Whether the items have a phone number of another country. */
  isForeign: boolean;
  hasKey: boolean;
  /** Whether it requests people in its answer. */
  people: boolean;
  /** Requests of the minute, including this one. */
  requests: number;
  paidTodayUsd: string;
  paidThisMonthUsd: string;
  paidToRecipientUsd: string;
  /** Days since the same payment to the recipient. */
  samePaymentDaysAgo: number;
  /** Seconds since the recipient was registered. Null for never. */
  registeredSecondsAgo: number | null;
}

export const ORDINARY: Asked = {
  opens: 'POST /payouts/mobile-money',
  address: '10.1.2.3',
  origin: undefined,
  usd: '1',
  items: 1,
  country: 'Kenya',
  isForeign: false,
  hasKey: true,
  people: false,
  requests: 1,
  paidTodayUsd: '0',
  paidThisMonthUsd: '0',
  paidToRecipientUsd: '0',
  samePaymentDaysAgo: 1_000,
  registeredSecondsAgo: 10_000_000,
};

export const USD = ['0.5', '1', '2', '5', '100'];
const COUNTS = [1, 2, 3, 5];
export const BLOCKS = ['10.0.0.0/8', '192.0.2.0/24', '203.0.113.7'];
export const COUNTRIES = ['Kenya', 'Nigeria', 'Uganda'];
export const ORIGINS = ['https://a.example', 'https://b.example'];

/** Variations of the ordinary request. Each limit has requests on both sides of each of its values. */
export const VARIATIONS: { [field in keyof Asked]: Asked[field][] } = {
  opens: [...OPERATION_NAMES],
  address: ['10.1.2.3', '192.0.2.1', '203.0.113.7', '198.51.100.1'],
  origin: [undefined, ...ORIGINS],
  usd: [...USD, '1000'],
  items: [...COUNTS, 10],
  country: [...COUNTRIES, 'Ghana'],
  isForeign: [true, false],
  hasKey: [true, false],
  people: [true, false],
  requests: [...COUNTS, 10],
  paidTodayUsd: ['0', '0.5', '1', '2', '5', '100'],
  paidThisMonthUsd: ['0', '0.5', '1', '2', '5', '100'],
  paidToRecipientUsd: ['0', '0.5', '1', '2', '5', '100'],
  samePaymentDaysAgo: [0.5, 1.5, 2.5, 4, 1_000],
  registeredSecondsAgo: [null, 0.5, 1.5, 2.5, 4, 10_000_000],
};

/** Whether the proxy executes a request immediately, by its own decision functions. */
export function isAllowed({ scopes, operations, ...limits }: Grants, asked: Asked): boolean {
  const caller: Caller = {
    clientId: 'shop',
    clientName: 'shop',
    account: 'main',
    keyId: 'key',
    credential:
      asked.origin === undefined
        ? { kind: 'key' }
        : { kind: 'session', id: '', signedInAt: null, validUntil: Infinity },
    identity: null,
    scopes: new Set(scopes as Scope[]),
    operations: operations && new Set(operations),
    limits,
    blocksRecipients: false,
    rights: '',
  };
  const { opens, address: clientAddress, origin } = asked;
  if (sourceProblem({ clientAddress, origin, sessionToken: undefined }, caller)) return false;
  if (asked.people && !maySeePeople({ caller } as OperationCall)) return false;
  if (!isOpen(caller, opens) || !isInTime(limits, asked)) return false;
  return Array.isArray(opens) || isAdmitted(caller, opens, asked);
}

const GUARD = new AllowGuard(new Reflector());

/** Handlers with the permissions of the routes' decorators. */
const HANDLERS = new Map<Asked['opens'], () => undefined>();

function handlerOf(opens: Asked['opens']): () => undefined {
  const known = HANDLERS.get(opens);
  if (known) return known;
  const handler = () => undefined;
  Allow(...(Array.isArray(opens) ? opens : scopesOf(opens)))(handler, '', { value: handler });
  HANDLERS.set(opens, handler);
  return handler;
}

function isOpen(caller: Caller, opens: Asked['opens']): boolean {
  const config = Array.isArray(opens) ? {} : { operation: opens, scopes: scopesOf(opens) };
  const context = {
    getHandler: () => handlerOf(opens),
    switchToHttp: () => ({ getRequest: () => ({ call: { caller }, routeOptions: { config } }) }),
  } as unknown as ExecutionContext;
  return passes(() => GUARD.canActivate(context));
}

function isInTime(
  { requestsPerMinute, personRequestsPerMinute }: Omit<Grants, 'scopes' | 'operations'>,
  asked: Asked,
) {
  const reply = { header: () => reply, getHeader: () => undefined } as never;
  const window = { requests: asked.requests, secondsLeft: 1 };
  const isWithin = (limit: number | null) =>
    limit === null || passes(() => limitRate('requests', limit, window, reply));
  return isWithin(requestsPerMinute) && isWithin(personRequestsPerMinute);
}

function passes(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/** Whether a call is sent immediately: not refused, and not held for an approval. */
function isAdmitted(caller: Caller, operation: OperationName, asked: Asked): boolean {
  if (scopesOf(operation)[0] === 'read') return true;
  const limits = limitsOfRequest({ caller, person: { limits: caller.limits } });
  const items = Array.from({ length: asked.items }, () => ({
    ...payment('ada@example.com', asked.usd),
    country: asked.country,
    phone: asked.isForeign ? '+233241234567' : null,
  }));
  if (limitProblems({ limits }, operation, items).length > 0) return false;
  // Refused in admission.service.ts and the preview.
  if (!asked.hasKey && limits.requireIdempotencyKey) return false;
  const person = { id: 'person', source: 'key' };
  const call = { id: 'call', caller, person, operation } as unknown as OperationCall;
  const request = admissionRequest(call, {
    items,
    input: {},
    idempotencyKey: asked.hasKey ? 'key' : null,
    allowDuplicateOf: null,
    overOwnLimit: false,
    screening: null,
  });
  return decide([request], stateBefore(caller, asked, items))[0]?.kind === 'admitted';
}

/** State read by the journal for admission. */
function stateBefore({ clientId, limits }: Caller, asked: Asked, items: ReturnType<typeof payment>[]) {
  const spent = {
    spentTodayUsd: new Decimal(asked.paidTodayUsd),
    spentThisMonthUsd: new Decimal(asked.paidThisMonthUsd),
  };
  const [paid] = paymentsTo(clientId, items);
  const isRepeated = asked.samePaymentDaysAgo < (limits.holdDuplicatesDays ?? 0);
  const recipients = new RecipientDays(
    new Map(paid ? [[paid.recipient, new Decimal(asked.paidToRecipientUsd)]] : []),
    new Map(paid && isRepeated ? [[paymentKey(paid), 'earlier']] : []),
  );
  const registered = recipientsOf(clientId, 'POST /payouts/credit', items);
  const entries = registered.flatMap(({ paidBy }) =>
    paidBy === null || asked.registeredSecondsAgo === null
      ? []
      : [{ list: 'allowed' as const, recipient: paidBy, ageSeconds: asked.registeredSecondsAgo }],
  );
  const { personDailyCapUsd: dailyCapUsd, personMonthlyCapUsd: monthlyCapUsd } = limits;
  const alike: PayerCaps[] = [];
  const payer: PayerCaps = {
    kind: 'person',
    alike,
    dailyCapUsd,
    monthlyCapUsd,
    totalCapUsd: null,
    spentUsd: new Decimal(0),
    ...spent,
  };
  alike.push(payer);
  return state({
    guards: OFF,
    recipients,
    register: new Register(entries),
    budgets: new Map([
      [clientId, { ...budget(), ...limits, ...spent, blocksRecipients: false, heldUsd: new Decimal(0) }],
    ]),
    payers: new Map([['person', payer]]),
  });
}
