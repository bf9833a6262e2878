import { Decimal } from 'decimal.js';
import { beneficiaryHash } from '../../access/clients/register-writes';
import { movesValue, OperationName } from '../../operations/catalogue/catalogue';
import { Item, RecipientName, recipientNames } from '../../operations/items/item';
import { itemFieldsOf } from '../../operations/items/items';
import { OPEN } from '../../operations/lifecycle/lifecycle';
import { CALLS, HELD, STATE_COLUMNS, stateIn } from '../../operations/lifecycle/lifecycle-sql';
import { COUNTED } from '../../operations/lifecycle/settlement';
import { Prisma } from '../../platform/database/generated/client';
import { AdmissionRequest, Budget } from '../../policy/admission';
import {
  NamedRecipient,
  Register,
  RegisterRules,
  Registration,
  usesRegister,
} from '../../policy/limits/beneficiaries';
import { HistoryLimits, Payment, paymentKey, RecipientDays } from '../../policy/limits/recipient-days';
import { OpenIntent } from '../records/records';

/**
 * Returns the recipients of the items of a call: one for each item of an operation that pays, even if the
 * item names none. Returns none for other operations.
 */
export function recipientsOf(clientId: string, operation: OperationName, items: Item[]): NamedRecipient[] {
  const { recipient = 'nobody' } = itemFieldsOf(operation) ?? {};
  const isPaid = movesValue(operation);
  if (recipient === 'nobody' && !isPaid) return [];
  const hashOf = ({ key }: RecipientName) => beneficiaryHash(clientId, key).toString('hex');
  return items.map((item, position) => {
    const names = recipientNames(item);
    const paidBy = names.find(({ counts }) => counts);
    return {
      position,
      field: item.recipientField,
      paidBy: paidBy ? hashOf(paidBy) : null,
      names: names.map(hashOf),
      isPaid,
    };
  });
}

/**
 * Reads the register entries of the recipients of these requests. Valid only while the clients are locked.
 * Skips registers that no client uses.
 * @param rules by client ID.
 */
export async function readRegister(
  tx: Pick<Prisma.TransactionClient, '$queryRaw'>,
  requests: Pick<AdmissionRequest, 'clientId' | 'recipients'>[],
  rules: ReadonlyMap<string, RegisterRules>,
): Promise<Register> {
  const names = requests.flatMap(({ clientId, recipients }) => {
    const used = rules.get(clientId);
    return used && usesRegister(used) ? (recipients ?? []).flatMap(({ names: all }) => all) : [];
  });
  if (names.length === 0) return new Register();
  const entries = await tx.$queryRaw<Registration[]>`
    SELECT encode(b.recipient, 'hex') AS recipient, b.list,
      extract(epoch FROM clock_timestamp() - b.registered_at)::float AS "ageSeconds"
    FROM (SELECT DISTINCT decode(name, 'hex') AS recipient FROM unnest(${names}::text[]) AS name) AS named
    JOIN beneficiary b ON b.recipient = named.recipient`;
  return new Register(entries);
}

/** The states in which a call without an answer counts, without held calls. */
const SENT = OPEN.filter((state) => state !== 'pending_approval');

type Paying = Pick<AdmissionRequest, 'clientId' | 'payments'>;

interface PaymentRow {
  recipient: string;
  usd: string;
  today: string | null;
  earlier: string | null;
}

/**
 * Reads the totals of these requests' recipients: of today, and of the days in which equal payments are held.
 * Valid only while the clients are locked. A held call counts on every day of its approval window. A payout
 * of an answered call counts as on the caps, by its last ledger entry. The ledger is read only if just a part
 * of the call counts.
 * @param counts whether held calls count. An approval excludes its own call.
 */
export async function readRecipientDays(
  tx: Prisma.TransactionClient,
  requests: Paying[],
  budgets: Map<string, HistoryLimits>,
  today: string,
  counts: 'held_too' | 'sent_only',
): Promise<RecipientDays> {
  const wanted = new Map(
    requests.flatMap(({ clientId, payments }) =>
      (payments ?? []).map(({ recipient }) => [recipient, budgets.get(clientId)?.holdDuplicatesDays ?? null]),
    ),
  );
  if (wanted.size === 0) return new RecipientDays();
  const rows = JSON.stringify([...wanted].map(([recipient, days]) => ({ recipient, days })));
  const found = await tx.$queryRaw<PaymentRow[]>`
    SELECT recipient, usd::text, sum(usd) FILTER (WHERE day IS NULL OR day = ${today}::date)::text AS today,
      (array_agg(id ORDER BY released_at DESC) FILTER (
        WHERE released_at >= clock_timestamp() - make_interval(days => days)))[1]::text AS earlier
    FROM (
      SELECT a.recipient, a.days, p.usd, p.position, call.*
      FROM json_to_recordset(${rows}::json) AS a(recipient text, days integer)
      JOIN recipient_payment p ON p.recipient = decode(a.recipient, 'hex')
      CROSS JOIN LATERAL (
        SELECT i.id, coalesce(d.reserved_on, i.reserved_on) AS day,
          coalesce(s.counted_usd, o.counted_usd) AS counted_usd,
          o.intent_id IS NULL AND s.id IS NULL AS is_unanswered, ${STATE_COLUMNS}
        FROM ${CALLS} WHERE i.id = p.intent_id OFFSET 0
      ) AS call
    ) AS payment
    WHERE CASE
      WHEN is_unanswered THEN ${stateIn(counts === 'held_too' ? OPEN : SENT)}
      WHEN counted_usd IS NULL THEN TRUE
      WHEN counted_usd = 0 THEN FALSE
      ELSE (
        SELECT e.entry FROM ledger_entry e WHERE e.call_id = payment.id AND e.position = payment.position
          AND e.entry <> 'fee'
        ORDER BY e.number DESC, e.source = 'request' LIMIT 1) = ANY (${COUNTED}) END
    GROUP BY recipient, usd`;
  return toRecipientDays(found);
}

function toRecipientDays(rows: PaymentRow[]): RecipientDays {
  const [sums, earlier] = [new Map<string, Decimal>(), new Map<string, string>()];
  for (const row of rows) {
    const { recipient } = row;
    const payment = { recipient, usd: new Decimal(row.usd) };
    sums.set(recipient, (sums.get(recipient) ?? new Decimal(0)).plus(row.today ?? 0));
    if (row.earlier !== null) earlier.set(paymentKey(payment), row.earlier);
  }
  return new RecipientDays(sums, earlier);
}

/** Reads the totals of the held calls of these clients. */
export async function readHeld(
  tx: Prisma.TransactionClient,
  clientIds: string[],
): Promise<Map<string, Decimal>> {
  if (clientIds.length === 0) return new Map();
  const rows = await tx.$queryRaw<{ client: string; usd: string | null }[]>`
    SELECT client_id::text AS client, sum(total_usd)::text AS usd FROM (
      SELECT i.client_id, i.total_usd, ${STATE_COLUMNS} FROM ${CALLS}
      WHERE i.client_id = ANY (${clientIds}::uuid[]) AND ${HELD}
    ) AS call
    WHERE ${stateIn(['pending_approval'])} GROUP BY client_id`;
  return new Map(rows.map(({ client, usd }) => [client, new Decimal(usd ?? 0)]));
}

/**
 * Records the payments of calls to each recipient for later admissions.
 * @param today the day (UTC).
 * @param approvableForMs approval window of a held call. It may become a payment of a later day.
 */
export async function insertRecipientPayments(
  tx: Prisma.TransactionClient,
  opened: Pick<OpenIntent, 'id' | 'caller' | 'heldFor' | 'payments'>[],
  budgets: Map<string, Budget>,
  { today, approvableForMs }: { today: string; approvableForMs: number },
): Promise<void> {
  const rows = opened.flatMap(({ id, caller, heldFor, payments }) => {
    const heldDays = heldFor ? Math.ceil(approvableForMs / 86_400_000) : 0;
    const days = (budgets.get(caller.clientId)?.holdDuplicatesDays ?? 0) + heldDays;
    return (payments ?? []).map((payment) => ({ id, days, ...toRow(payment) }));
  });
  if (rows.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO recipient_payment (recipient, intent_id, position, usd, kept_until)
    SELECT decode(recipient, 'hex'), id, position, usd, ${today}::date + days
    FROM json_to_recordset(${JSON.stringify(rows)}::json)
      AS r(recipient text, id uuid, position integer, usd numeric, days integer)
    ON CONFLICT DO NOTHING`;
}

/** A payment in a copy. */
export type CopiedPayment = ReturnType<typeof toRow>;

export function toRow({ recipient, position, usd }: Payment) {
  return { recipient, position, usd: usd.toFixed() };
}
