import { Decimal } from 'decimal.js';
import { now } from '../../continuity/heartbeat/instant';
import { clock } from '../../platform/database/clock';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { AdmissionRequest, State } from '../../policy/admission';
import { decide } from '../../policy/decide';
import { Register } from '../../policy/limits/beneficiaries';
import { reservationOf } from '../../policy/limits/caps';
import { RecipientDays } from '../../policy/limits/recipient-days';
import { FastPathConditions, insertIntentsIfClear, IntentRow, toRows } from '../records/intents';
import {
  Admission,
  AdmissionRules,
  AdmittedBatch,
  guardsOf,
  GuardWindows,
  isOpen,
  toOpened,
  toResults,
} from './admission-rules';

/**
 * Opens calls without obstacles, the usual case. One statement checks and writes under the same locks, which
 * saves a transaction that reads first.
 * See docs/internals/decisions/money/0016-most-calls-are-admitted-by-one-statement.md.
 * @returns undefined if one of the calls may have an obstacle.
 */
export async function admitClear(
  prisma: PrismaService,
  process: number,
  admissions: Admission[],
  rules: AdmissionRules,
): Promise<AdmittedBatch | undefined> {
  const { windows, fees } = rules;
  if (windows.acrossClientsSeconds > 0 || admissions.some(({ request }) => needsLookup(request)))
    return undefined;
  const requests = fees.priced(admissions.map(({ request }) => request));
  const rulings = decide(requests, nothingKnown(windows));
  if (!rulings.every(isOpen)) return undefined;
  const today = clock.today();
  const opened = toRows(toOpened(admissions, rulings, { today, process, rules }));
  const clearance = toClearance(admissions, requests, opened, { day: today, knownFees: fees.known });
  const release = now();
  const written = await insertIntentsIfClear(prisma, opened, clearance);
  return written ? { results: toResults(rulings, opened, release), opened } : undefined;
}

/** Whether a client limit depends on earlier payments or on the recipient register, and so needs a lookup. */
function needsLookup({ payments, recipients }: AdmissionRequest): boolean {
  return payments !== null || recipients !== null;
}

/** The state without other calls, stops or caps. */
function nothingKnown(windows: GuardWindows): State {
  return {
    claims: new Map(),
    sameContent: new Map(),
    seenAcrossClients: new Set(),
    unexplained: new Map(),
    recipients: new RecipientDays(),
    register: new Register(),
    stops: [],
    budgets: new Map(),
    payers: null,
    guards: guardsOf(windows),
  };
}

function toClearance(
  admissions: Admission[],
  requests: AdmissionRequest[],
  opened: IntentRow[],
  known: Pick<FastPathConditions, 'day' | 'knownFees'>,
): FastPathConditions {
  const usd = new Map<string, Decimal | null>();
  const ofPayers = new Map<string, Decimal>();
  for (const request of requests) {
    const reserved = reservationOf(request);
    const before = usd.get(request.clientId) ?? null;
    // Held calls count too. A call over a cap is refused instead of held.
    usd.set(request.clientId, reserved === null ? before : reserved.plus(before ?? 0));
    if (reserved === null) continue;
    for (const payer of request.payers) ofPayers.set(payer, reserved.plus(ofPayers.get(payer) ?? 0));
  }
  return {
    clients: [...usd.keys()],
    usd: [...usd.values()].map((sum) => sum?.toFixed() ?? null),
    ...callersOf(admissions),
    ...known,
    contents: opened.map(({ intent: { contents = [] } }) => contents[0] ?? null),
    payers: [...ofPayers.keys()],
    payerUsd: [...ofPayers.values()].map((sum) => sum.toFixed()),
  };
}

/** Returns each key once per version of its rights. */
export function callersOf(admissions: Admission[]): Pick<FastPathConditions, 'keys' | 'rights'> {
  const callers = new Map(
    admissions.map(({ intent: { caller } }) => [`${caller.keyId} ${caller.rights}`, caller]),
  );
  const distinct = [...callers.values()];
  return { keys: distinct.map(({ keyId }) => keyId), rights: distinct.map(({ rights }) => rights) };
}
