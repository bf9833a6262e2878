import { Decimal } from 'decimal.js';
import {
  ADMISSION_LIMIT_KEYS,
  AdmissionLimitKey,
  LimitsRow,
  readLimits,
} from '../../access/clients/limits/limits';
import { Prisma } from '../../platform/database/generated/client';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { commitment } from '../../platform/privacy/commitment';
import { AdmissionRequest, Budget, State } from '../../policy/admission';
import { dryRun } from '../../policy/decide';
import { Caps } from '../../policy/limits/caps';
import { SameContent } from '../../policy/same-content';
import { readUnexplained } from '../reconciliation/unexplained-payments';
import { claimKey } from '../records/records';
import { ACTIVE_STOPS } from '../stops/stops';
import { guardsOf, StateWindows, AdmissionRules } from './admission-rules';
import { CallFeeRow, callFeesAfter } from './call-fees';
import { asSameContent, isKeyFree, KnownCall, readCallStates } from './call-states';
import { contentKey, paidByOthers } from './content-keys';
import { readPayerCaps } from './payers';
import { readRegister, readHeld, readRecipientDays } from './recipients';

interface StateRow {
  today: string;
  /** Erased content has no hash. */
  claims: { request: string; call: string; salt: string | null; hash: string | null }[] | null;
  recent: { request: string; call: string }[] | null;
  spending: { client: string; today: string; month: string }[] | null;
  stops: State['stops'] | null;
  fees: CallFeeRow[] | null;
  /** Whether an unexplained payment of a recovery gap matches. */
  isUnexplained: boolean;
}

/** The limits of a client that depend on other calls. */
export interface BudgetRow extends LimitsRow<AdmissionLimitKey> {
  id: string;
  blocksRecipients: boolean;
}

/**
 * Returns the state for a decision about these calls, and the day (UTC) of their caps. Valid only while the
 * clients are locked.
 * @param windows with the number of the newest fee that the process knows. Newer ones are returned.
 * @param counts whether held calls count for their recipients (see `readRecipientDays`).
 */
export async function readState(
  tx: Prisma.TransactionClient,
  requests: AdmissionRequest[],
  clients: BudgetRow[],
  windows: StateWindows & { knownFees: number },
  counts: 'held_too' | 'sent_only' = 'held_too',
): Promise<{ state: State; today: string; fees: CallFeeRow[] }> {
  const clientIds = clients.map(({ id }) => id);
  const found = await find(tx, requests, clientIds, windows.knownFees);
  const { today, claims, recent, spending, stops, fees, isUnexplained } = found;
  const calls = [...(claims ?? []), ...(recent ?? [])].map(({ call }) => call);
  const known = await readCallStates(tx, calls, windows.inFlightSeconds);
  const byId = new Map(requests.map((request) => [request.id, request]));
  const spent = new Map(spending?.map((row) => [row.client, row]));
  const held = await readHeld(
    tx,
    clients.flatMap(({ id, approvalOverDayUsd }) => (approvalOverDayUsd ? [id] : [])),
  );
  const budgets = new Map(
    clients.map((client) => [client.id, toBudget(client, spent.get(client.id), held.get(client.id))]),
  );
  const taken = claims?.filter(({ call }) => !isKeyFree(known.get(call)));
  const state: State = {
    claims: new Map(
      taken?.map(({ request, call, salt, hash }) => {
        const { content = '' } = byId.get(request) ?? {};
        return [request, { callId: call, sameContent: isSame(content, salt, hash) }];
      }),
    ),
    sameContent: toSameContent(recent ?? [], known),
    seenAcrossClients: await paidByOthers(tx, requests, windows.acrossClientsSeconds),
    unexplained: isUnexplained ? await readUnexplained(tx, requests) : new Map<string, string>(),
    recipients: await readRecipientDays(tx, requests, budgets, today, counts),
    register: await readRegister(tx, requests, budgets),
    stops: stops ?? [],
    budgets,
    payers: await readPayerCaps(tx, requests, today),
    guards: guardsOf(windows),
  };
  return { state, today, fees: fees ?? [] };
}

/**
 * Reads the small tables that decide almost every call. Looks each request up by primary key. OFFSET 0 keeps
 * the planner from scanning whole tables for a batch.
 */
async function find(
  tx: Prisma.TransactionClient,
  requests: AdmissionRequest[],
  clientIds: string[],
  knownFees: number,
): Promise<StateRow> {
  const rows = JSON.stringify(
    requests.map(({ id, clientId, endUserId, operation, idempotencyKey, content }) => ({
      request: id,
      client_id: clientId,
      operation,
      key: idempotencyKey === null ? null : claimKey(endUserId, idempotencyKey),
      content: contentKey({ clientId, endUserId, operation, content }).toString('hex'),
    })),
  );
  const [found] = await tx.$queryRaw<StateRow[]>`
    -- prepared as find_state
    WITH requested AS (
      SELECT * FROM json_to_recordset(${rows}::json)
        AS t(request uuid, client_id uuid, operation text, key text, content text)
    ), clock AS (SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date AS today)
    SELECT today::text,
      (SELECT json_agg(json_build_object('request', request, 'call', intent_id,
         'salt', encode(salt, 'hex'), 'hash', encode(content_hash, 'hex')))
       FROM requested a CROSS JOIN LATERAL (
         SELECT intent_id, salt, content_hash FROM idempotency_claim
         WHERE client_id = a.client_id AND operation = a.operation
           AND key IN (a.key, hashed_key(a.key)) OFFSET 0) AS claim) AS claims,
      (SELECT json_agg(json_build_object('request', request, 'call', intent_id) ORDER BY number DESC)
       FROM requested a CROSS JOIN LATERAL (
         SELECT intent_id, number FROM recent_content
         WHERE content = decode(a.content, 'hex') OFFSET 0) AS before) AS recent,
      (SELECT json_agg(json_build_object('client', client_id, 'today', today_usd::text,
         'month', month_usd::text))
       FROM (
         SELECT client_id, sum(usd) FILTER (WHERE day = today) AS today_usd, sum(usd) AS month_usd
         FROM spending
         WHERE client_id = ANY (${clientIds}::uuid[]) AND day >= date_trunc('month', today)::date
         GROUP BY client_id) AS spent) AS spending,
      (SELECT json_agg(s) FROM (${ACTIVE_STOPS}) AS s) AS stops,
      (SELECT json_agg(f) FROM (${callFeesAfter(knownFees)}) AS f) AS fees,
      EXISTS (SELECT FROM unexplained_payment) AS "isUnexplained"
    FROM clock`;
  if (!found) throw new Error('the database did not return the day');
  return found;
}

/** @param recent newest first. */
function toSameContent(
  recent: { request: string; call: string }[],
  known: Map<string, KnownCall>,
): Map<string, SameContent[]> {
  const byRequest = new Map<string, SameContent[]>();
  for (const { request, call } of recent) {
    const same = asSameContent(call, known.get(call));
    const before = byRequest.get(request) ?? [];
    if (same) before.push(same);
    byRequest.set(request, before);
  }
  return byRequest;
}

/** Compares contents. Without a stored content, the key alone decides: the call must not be paid twice. */
function isSame(content: string, salt: string | null, hash: string | null): boolean {
  if (salt === null || hash === null) return true;
  return commitment(Buffer.from(salt, 'hex'), content)?.toString('hex') === hash;
}

function toBudget(
  client: BudgetRow,
  spent: { today: string | null; month: string | null } | undefined,
  heldUsd: Decimal | undefined,
): Budget {
  return {
    ...readLimits(client, ADMISSION_LIMIT_KEYS),
    blocksRecipients: client.blocksRecipients,
    spentTodayUsd: new Decimal(spent?.today ?? 0),
    spentThisMonthUsd: new Decimal(spent?.month ?? 0),
    heldUsd: heldUsd ?? new Decimal(0),
  };
}

/** The answer that admission would return now. */
export type DryRun = ReturnType<typeof dryRun> & {
  feeUsd: Decimal | null;
  /** The visible caps: the client's or, for an end user, their own. Undefined without a known amount. */
  caps: Caps | undefined;
};

const LIMITS = Object.fromEntries(ADMISSION_LIMIT_KEYS.map((key) => [key, true])) as Record<
  AdmissionLimitKey,
  true
>;

/** Decides about a request without locks, claims or reservations. The result may change a moment later. */
export async function readDryRun(
  prisma: PrismaService,
  request: AdmissionRequest,
  { windows, fees }: AdmissionRules,
): Promise<DryRun> {
  const client = await prisma.client.findUniqueOrThrow({
    where: { id: request.clientId },
    select: { id: true, blocksRecipients: true, ...LIMITS },
  });
  const { state, fees: newer } = await readState(prisma, [request], [client], {
    ...windows,
    knownFees: fees.known,
  });
  fees.learn(newer);
  const priced = fees.priced([request])[0] ?? request;
  const { endUserId } = request;
  const caps = endUserId === null ? state.budgets.get(client.id) : state.payers?.get(endUserId);
  return { ...dryRun(priced, state), feeUsd: priced.feeUsd, caps };
}
